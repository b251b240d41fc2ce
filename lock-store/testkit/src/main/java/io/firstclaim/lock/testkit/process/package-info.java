/** Java processes that tests start, watch, pause and kill. */
@NullMarked
package io.firstclaim.lock.testkit.process;

import org.jspecify.annotations.NullMarked;
