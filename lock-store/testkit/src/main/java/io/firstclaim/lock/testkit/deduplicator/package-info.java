/** What work that is done once for each ID can rely on, whatever the store. */
@NullMarked
package io.firstclaim.lock.testkit.deduplicator;

import org.jspecify.annotations.NullMarked;
