/** Claims, documents and boards in one process: tests, trials, benchmarks. */
@NullMarked
package io.firstclaim.lock.memory;

import org.jspecify.annotations.NullMarked;
