/** Contracts and tools for stores behind a client of the AWS SDK, which the user brings along. */
@NullMarked
package io.firstclaim.lock.testkit.aws;

import org.jspecify.annotations.NullMarked;
