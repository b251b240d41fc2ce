/** A Kafka cluster of a few topics and groups, behind the interfaces of Kafka's own clients. */
@NullMarked
package io.firstclaim.simulation.kafka;

import org.jspecify.annotations.NullMarked;
