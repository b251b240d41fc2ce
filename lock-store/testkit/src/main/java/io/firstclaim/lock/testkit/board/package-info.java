/** What stores of status boards promise, and what transitions do. */
@NullMarked
package io.firstclaim.lock.testkit.board;

import org.jspecify.annotations.NullMarked;
