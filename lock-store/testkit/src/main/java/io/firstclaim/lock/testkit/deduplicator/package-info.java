/** What work that is done once for each ID can rely on, over whichever store. */
@NullMarked
package io.firstclaim.lock.testkit.deduplicator;

import org.jspecify.annotations.NullMarked;
