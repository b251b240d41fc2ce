/** DynamoDB and S3 beneath the AWS SDK: services, and a network that loses, delays and repeats. */
@NullMarked
package io.firstclaim.simulation.aws;

import org.jspecify.annotations.NullMarked;
