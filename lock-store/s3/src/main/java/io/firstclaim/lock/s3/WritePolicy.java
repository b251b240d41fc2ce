package io.firstclaim.lock.s3;

import java.util.List;
import java.util.stream.Collectors;
import software.amazon.awssdk.regions.Region;

/**
 * The policy of a bucket that denies writes without a condition under some prefixes, as in AWS's
 * guide (<a
 * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes-enforce.html">Enforce
 * conditional writes</a>), its third example, for everybody. The parts of a multipart upload take
 * no condition, so they are exempt; its completion is not.
 */
final class WritePolicy {
  private static final String SID = "FirstclaimDenyUnconditionalWrites";

  private final List<String> resources;

  WritePolicy(Region region, String bucket, List<String> prefixes) {
    String partition = region.metadata() == null ? "aws" : region.metadata().partition().id();
    this.resources =
        prefixes.stream()
            .map(prefix -> "\"arn:%s:s3:::%s/%s*\"".formatted(partition, bucket, prefix))
            .toList();
  }

  /** All of the policy, for a bucket that has none. */
  String text() {
    return """
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "%s",
          "Effect": "Deny",
          "Principal": "*",
          "Action": "s3:PutObject",
          "Resource": %s,
          "Condition": {
            "Null": {"s3:if-none-match": "true", "s3:if-match": "true"},
            "Bool": {"s3:ObjectCreationOperation": "true"}
          }
        }
      ]
    }
    """
        .formatted(
            SID,
            resources.size() == 1
                ? resources.getFirst()
                : resources.stream().collect(Collectors.joining(", ", "[", "]")));
  }

  /** The same in one line, for people. */
  String inOneLine() {
    return text().replaceAll("\\s+", " ");
  }

  /** Whether a bucket's policy has such a statement, and names all the prefixes. */
  boolean isIn(String policy) {
    return policy.contains(SID) && resources.stream().allMatch(policy::contains);
  }
}
