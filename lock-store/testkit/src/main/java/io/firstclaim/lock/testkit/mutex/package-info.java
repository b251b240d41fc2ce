/** What a mutex promises, whatever the store, in one process and in several. */
@NullMarked
package io.firstclaim.lock.testkit.mutex;

import org.jspecify.annotations.NullMarked;
