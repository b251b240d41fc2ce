/**
 * Kafka records in, outcomes out, each record processed once: for use inside any application. This
 * package, {@code .api} and {@code .setting} are the engine's door; the others below are internal.
 */
@NullMarked
package io.firstclaim.processor.engine;

import org.jspecify.annotations.NullMarked;
