/** Mutual exclusion for processes that share a claim store, whichever it is. */
@NullMarked
package io.firstclaim.lock.mutex;

import org.jspecify.annotations.NullMarked;
