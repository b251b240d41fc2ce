/** Internal: the Kafka clients and topics of an instance. */
@NullMarked
package io.firstclaim.processor.engine.kafka;

import org.jspecify.annotations.NullMarked;
