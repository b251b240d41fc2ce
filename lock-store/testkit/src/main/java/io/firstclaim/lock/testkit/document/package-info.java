/** What stores of documents promise, and updates of documents that many share. */
@NullMarked
package io.firstclaim.lock.testkit.document;

import org.jspecify.annotations.NullMarked;
