@NullMarked
package io.firstclaim.lock.deduplicator;

import org.jspecify.annotations.NullMarked;
