/** What a store keeps of a claim, and the pure rule that moves it on. */
@NullMarked
package io.firstclaim.lock.protocol;

import org.jspecify.annotations.NullMarked;
