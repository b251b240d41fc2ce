/** What a mutex promises, over whichever store, in one process and in several. */
@NullMarked
package io.firstclaim.lock.mutex;

import org.jspecify.annotations.NullMarked;
