package io.firstclaim.lock.s3;

import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.aws.TranslatedFaults;
import io.firstclaim.lock.s3.ProtectedPrefix.Protection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * The policy of a bucket that denies everybody what would break a protocol of conditions under some
 * prefixes: writes without a condition, writes over what is written once, and deletes without one.
 * It follows AWS's guide (<a
 * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes-enforce.html">Enforce
 * conditional writes</a>, <a
 * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-delete-enforce.html">deletes</a>).
 * The parts of a multipart upload take no condition, so they are exempt; its completion is not.
 * Lifecycle rules heed no policy. Immutable; the client stays the caller's.
 */
public final class BucketPolicy {
  /** A condition that holds of what makes an object, and not of the parts of one. */
  private static final String CREATION =
      """
      , "Bool": {"s3:ObjectCreationOperation": "true"}""";

  /**
   * Holds of whoever asks S3, and of nobody where the key is not known, as by Ceph: without this it
   * would deny every delete, as it finds no {@code s3:if-match} in any.
   */
  private static final String ANYBODY =
      """
      , "StringLike": {"aws:PrincipalAccount": "*"}""";

  private final S3Client client;
  private final String bucket;
  private final List<ProtectedPrefix> prefixes;

  /** The policy that protects these prefixes of a bucket. */
  public BucketPolicy(S3Client client, String bucket, List<ProtectedPrefix> prefixes) {
    this.client = TranslatedFaults.of(S3Client.class, client);
    this.bucket = bucket;
    this.prefixes = List.copyOf(prefixes);
  }

  /** All of the policy, for a bucket that has none, in JSON. */
  public String text() {
    List<String> statements = new ArrayList<>();
    List<String> changing = resources(Protection.ON_CONDITION);
    if (!changing.isEmpty()) {
      statements.add(
          denial(
              "UnconditionalWrites",
              "s3:PutObject",
              changing,
              """
              "Null": {"s3:if-none-match": "true", "s3:if-match": "true"}"""
                  + CREATION));
    }
    List<String> once = resources(Protection.ONCE);
    if (!once.isEmpty()) {
      statements.add(
          denial(
              "Overwrites",
              "s3:PutObject",
              once,
              """
              "Null": {"s3:if-none-match": "true"}"""
                  + CREATION));
    }
    statements.add(
        denial(
            "UnconditionalDeletes",
            "s3:DeleteObject",
            prefixes.stream().map(this::resource).toList(),
            """
            "Null": {"s3:if-match": "true"}"""
                + ANYBODY));
    return """
    {
      "Version": "2012-10-17",
      "Statement": [
    %s
      ]
    }
    """
        .formatted(String.join(",\n", statements));
  }

  private static String denial(
      String what, String action, List<String> resources, String condition) {
    String all = resources.stream().map("\"%s\""::formatted).collect(Collectors.joining(", "));
    return """
        {
          "Sid": "FirstclaimDeny%s",
          "Effect": "Deny",
          "Principal": "*",
          "Action": "%s",
          "Resource": [%s],
          "Condition": {%s}
        }\
    """
        .formatted(what, action, all, condition);
  }

  private List<String> resources(Protection protection) {
    return prefixes.stream()
        .filter(prefix -> prefix.protection() == protection)
        .map(this::resource)
        .toList();
  }

  private String resource(ProtectedPrefix of) {
    Region region = client.serviceClientConfiguration().region();
    String partition = region.metadata() == null ? "aws" : region.metadata().partition().id();
    return "arn:%s:s3:::%s/%s*".formatted(partition, bucket, of.prefix());
  }

  /**
   * What the bucket's policy lacks of this: nothing, if it denies as much in whatever words.
   *
   * @return all of this policy, in one line; empty if the bucket has it
   */
  public Optional<String> missing() {
    try {
      String there =
          client
              .getBucketPolicy(get -> get.bucket(bucket).overrideConfiguration(TimeLimits.SETUP))
              .policy();
      return isIn(there) ? Optional.empty() : Optional.of(inOneLine());
    } catch (SdkException e) {
      // There is none, the store knows none, the role may not read it, or there is no answer.
      return Optional.of(inOneLine());
    }
  }

  /** Whether a policy denies all that this one does. */
  boolean isIn(String policy) {
    List<PolicyDenial> there = PolicyDenial.in(policy);
    return PolicyDenial.in(text()).stream()
        .allMatch(wanted -> there.stream().anyMatch(each -> each.covers(wanted)));
  }

  /** The text of the policy in one line, for messages. */
  String inOneLine() {
    return text().strip().replaceAll("\\s+", " ");
  }

  /**
   * Tries what it denies, on scratch objects, of which nothing is left.
   *
   * @return what was answered to each try, which is kept if that was denied
   * @throws StoreUnavailableException if S3 does not answer
   */
  public List<ConformanceResult> denials() {
    return prefixes.stream()
        .flatMap(prefix -> new DenialCheck(client, bucket, prefix).run().stream())
        .toList();
  }
}
