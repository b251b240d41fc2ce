/** Work that is done once for each ID, by one of all processes that share a claim store. */
@NullMarked
package io.firstclaim.lock.deduplicator;

import org.jspecify.annotations.NullMarked;
