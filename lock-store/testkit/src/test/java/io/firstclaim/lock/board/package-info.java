/** What status boards promise, over whichever store. */
@NullMarked
package io.firstclaim.lock.board;

import org.jspecify.annotations.NullMarked;
