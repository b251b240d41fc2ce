/** What shared documents promise, over whichever store. */
@NullMarked
package io.firstclaim.lock.document;

import org.jspecify.annotations.NullMarked;
