/** A proxy in front of a store that counts requests and breaks them on demand. */
@NullMarked
package io.firstclaim.lock.testkit.fault;

import org.jspecify.annotations.NullMarked;
