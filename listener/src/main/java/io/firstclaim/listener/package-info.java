/**
 * What a framework's Kafka listeners need to be called once for each record ID: where the ID is,
 * what becomes of a record, its dead letter. Knows no framework.
 */
@NullMarked
package io.firstclaim.listener;

import org.jspecify.annotations.NullMarked;
