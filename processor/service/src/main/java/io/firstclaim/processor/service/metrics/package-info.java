/** Counters and gauges; observes only. */
@NullMarked
package io.firstclaim.processor.service.metrics;

import org.jspecify.annotations.NullMarked;
