/**
 * {@code @Deduplicated} on Kafka listeners: an advice on their containers, with one retry policy.
 */
@NullMarked
package io.firstclaim.spring.kafka;

import org.jspecify.annotations.NullMarked;
