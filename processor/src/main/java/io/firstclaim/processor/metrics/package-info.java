/** Counters and gauges; observes only. */
@NullMarked
package io.firstclaim.processor.metrics;

import org.jspecify.annotations.NullMarked;
