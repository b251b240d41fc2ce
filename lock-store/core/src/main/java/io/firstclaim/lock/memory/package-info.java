/** A claim store for one process: tests, trials, benchmarks. */
@NullMarked
package io.firstclaim.lock.memory;

import org.jspecify.annotations.NullMarked;
