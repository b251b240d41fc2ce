/** Work that is done once for each ID among all processes that share a claim store. */
@NullMarked
package io.firstclaim.lock.deduplicator;

import org.jspecify.annotations.NullMarked;
