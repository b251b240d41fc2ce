/** Mutual exclusion for processes that share a claim store, whatever kind it is. */
@NullMarked
package io.firstclaim.lock.mutex;

import org.jspecify.annotations.NullMarked;
