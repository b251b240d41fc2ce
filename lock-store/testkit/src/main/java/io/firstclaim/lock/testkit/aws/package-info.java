/** What is tried on stores that are asked by a client of the AWS SDK, which the user brings. */
@NullMarked
package io.firstclaim.lock.testkit.aws;

import org.jspecify.annotations.NullMarked;
