/** {@code @Deduplicated} on Kafka listeners: an advice on the method, and checks at start. */
@NullMarked
package io.firstclaim.micronaut.kafka;

import org.jspecify.annotations.NullMarked;
