/** What stores of documents promise, and what updates of shared documents do. */
@NullMarked
package io.firstclaim.lock.testkit.document;

import org.jspecify.annotations.NullMarked;
