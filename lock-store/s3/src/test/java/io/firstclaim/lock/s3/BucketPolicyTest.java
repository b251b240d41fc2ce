package io.firstclaim.lock.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Which policies deny enough, and what is seen of them. No server here keeps to a policy: where a
 * test needs one that does, the proxy denies what S3 would.
 */
class BucketPolicyTest {
  private static final FaultProxy PROXY = FaultProxy.start(LocalS3.endpoint());
  private static final S3Client CLIENT =
      S3Bucket.configure(LocalS3.builder(PROXY.endpoint()), Duration.ofSeconds(9)).build();
  private static final String NO_CREATION = "\"Bool\":{\"s3:ObjectCreationOperation\":\"true\"}";

  private final String name = LocalS3.newName();
  private final BucketPolicy wanted =
      new BucketPolicy(
          CLIENT,
          name,
          List.of(ProtectedPrefix.onCondition("claims/"), ProtectedPrefix.once("datasets/")));

  @AfterAll
  static void stop() {
    CLIENT.close();
    PROXY.close();
  }

  @AfterEach
  void mend() {
    PROXY.clear();
  }

  /** A policy of these statements, in which {@code B} stands for the bucket's ARN. */
  private String policy(String... statements) {
    return "{\"Version\":\"2012-10-17\",\"Statement\":[%s]}"
        .formatted(String.join(",", statements))
        .replace("B/", "arn:aws:s3:::" + name + "/");
  }

  private static String denial(String action, String resource, String condition) {
    return "{\"Effect\":\"Deny\",\"Principal\":\"*\",\"Action\":%s,\"Resource\":%s,\"Condition\":{%s}}"
        .formatted(action, resource, condition);
  }

  private static final String WRITES =
      denial(
          "\"s3:PutObject\"",
          "\"B/claims/*\"",
          "\"Null\":{\"s3:if-none-match\":\"true\",\"s3:if-match\":\"true\"}," + NO_CREATION);
  private static final String OVERWRITES =
      denial(
          "\"s3:PutObject\"",
          "\"B/datasets/*\"",
          "\"Null\":{\"s3:if-none-match\":\"true\"}," + NO_CREATION);
  private static final String DELETES =
      denial(
          "\"s3:DeleteObject\"",
          "[\"B/claims/*\",\"B/datasets/*\"]",
          "\"Null\":{\"s3:if-match\":\"true\"}");

  @Test
  void policy_deniesAsMuchAsItself() {
    assertThat(wanted.isIn(wanted.text())).isTrue();
    assertThat(wanted.isIn(wanted.inOneLine())).isTrue();
  }

  @Test
  void statementsUnderOtherNames_inAnyOrderAndSplit_areAsGood() {
    assertThat(wanted.isIn(policy(DELETES, OVERWRITES, WRITES))).isTrue();
    assertThat(
            wanted.isIn(
                policy(
                    "{\"Sid\":\"Theirs\",\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"s3:GetObject\",\"Resource\":\"B/*\"}",
                    WRITES,
                    OVERWRITES,
                    DELETES.replace("\"B/claims/*\",", ""),
                    DELETES.replace(",\"B/datasets/*\"", ""))))
        .isTrue();
  }

  @Test
  void otherWordsForTheSame_areAsGood() {
    assertThat(
            wanted.isIn(
                policy(WRITES, OVERWRITES, DELETES)
                    .replace("\"Principal\":\"*\"", "\"Principal\":{\"AWS\":[\"*\"]}")
                    .replace("\"s3:PutObject\"", "[\"s3:GetObjectAcl\",\"S3:putobject\"]")
                    .replace(
                        "\"Null\":{\"s3:if-none-match\":\"true\"",
                        "\"Null\":{\"S3:If-None-Match\":[true]")
                    .replace("\"Bool\"", "\"BoolIfExists\"")))
        .isTrue();
  }

  @Test
  void policyThatDeniesMore_isAsGood() {
    assertThat(
            wanted.isIn(
                policy(
                    WRITES.replace("B/claims/*", "B/*").replace("," + NO_CREATION, ""),
                    OVERWRITES.replace("B/datasets/*", "arn:aws:s3:::*"),
                    DELETES.replace("s3:DeleteObject", "s3:Delete*"))))
        .isTrue();
    assertThat(wanted.isIn(policy(denial("\"*\"", "\"*\"", "").replace(",\"Condition\":{}", ""))))
        .isTrue();
  }

  /** What is replaced in the policy that is enough, and by what. */
  @ParameterizedTest
  @CsvSource(
      delimiterString = " > ",
      quoteCharacter = '`',
      value = {
        "\"Deny\" > \"Allow\"",
        "\"Principal\":\"*\" > \"Principal\":{\"AWS\":\"arn:aws:iam::111122223333:root\"}",
        "\"Principal\":\"*\" > \"NotPrincipal\":\"*\"",
        "\"Action\":\"s3:PutObject\" > \"NotAction\":\"s3:PutObject\"",
        "s3:PutObject > s3:PutObjectAcl",
        "s3:DeleteObject > s3:DeleteObjectVersion",
        "B/claims/* > B/claims/",
        "B/claims/* > B/claims/?",
        "B/claims/* > B/claims/0*",
        "B/claims/* > arn:aws:s3:::another/claims/*",
        "\"B/claims/*\",\"B/datasets/*\" > \"B/claims/*\"",
        "\"Null\":{\"s3:if-match\":\"true\"} > \"Null\":{\"s3:if-match\":\"false\"}",
        "{\"s3:if-none-match\":\"true\"} > {\"s3:if-none-match\":\"true\",\"s3:if-match\":\"true\"}",
        "\"Bool\":{ > \"Bool\":{\"aws:SecureTransport\":\"true\",",
        "{\"Version\" > {\"Version",
        "}]} > }"
      })
  void policyThatDeniesLess_isNot(String part, String other) {
    String enough =
        "{\"Version\":\"2012-10-17\",\"Statement\":[%s]}"
            .formatted(String.join(",", WRITES, OVERWRITES, DELETES));
    assertThat(enough).contains(part);
    String less = enough.replace(part, other);

    assertThat(wanted.isIn(less.replace("B/", "arn:aws:s3:::" + name + "/"))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "null", "[]", "{}", "{\"Statement\":null}", "{\"Statement\":[1,[]]}"})
  void whatIsNoPolicy_deniesNothing(String text) {
    assertThat(wanted.isIn(text)).isFalse();
  }

  // What is seen of a policy

  private static Predicate<Request> not(String header) {
    return Match.header(header).negate();
  }

  /** Denies what the policy does. */
  private static void enforce() {
    Fault denied = Fault.Answer.s3(403, "AccessDenied");
    Predicate<Request> put = Match.operation("PUT");
    PROXY.add(
        Rule.always(
            put.and(Match.pathContains("/claims/")).and(not("If-None-Match")).and(not("If-Match")),
            denied));
    PROXY.add(
        Rule.always(put.and(Match.pathContains("/datasets/")).and(not("If-None-Match")), denied));
    PROXY.add(Rule.always(Match.operation("DELETE").and(not("If-Match")), denied));
  }

  private List<String> keys() {
    return LocalS3.client().listObjectsV2(list -> list.bucket(name)).contents().stream()
        .map(object -> object.key())
        .toList();
  }

  @Test
  void policyThatIsEnforced_isSeenAtEachTrial_andNothingIsLeft() {
    LocalS3.createBucket(name);
    enforce();

    assertThat(wanted.denials())
        .extracting(ConformanceResult::name, ConformanceResult::seen, ConformanceResult::kept)
        .containsExactly(
            tuple("PUT without a condition under claims/", "403 AccessDenied", true),
            tuple("DELETE without a condition under claims/", "403 AccessDenied", true),
            tuple("PUT without a condition under datasets/", "403 AccessDenied", true),
            tuple("PUT with If-Match under datasets/", "403 AccessDenied", true),
            tuple("DELETE without a condition under datasets/", "403 AccessDenied", true));
    assertThat(keys()).isEmpty();
  }

  @Test
  void policyThatIsEnforced_isInTheWayOfNothing() {
    LocalS3.createBucket(name);
    enforce();
    S3Bucket bucket = new S3Bucket(CLIENT, name, "claims/");

    assertThat(bucket.checks()).allMatch(ConformanceResult::kept);
    assertThat(bucket.deletes().kept()).isTrue();
    assertThat(keys()).isEmpty();
  }

  @Test
  void bucketWithoutAPolicy_isSeenAtEachTrial_andNothingIsLeft() {
    LocalS3.createBucket(name);

    assertThat(wanted.denials())
        .hasSize(5)
        .noneMatch(ConformanceResult::kept)
        .extracting(ConformanceResult::seen)
        .contains("taken", "412 PreconditionFailed");
    assertThat(keys()).isEmpty();
  }

  @Test
  void whatOnlyDeletesAreDeniedOf_isRemovedOnItsETag() {
    LocalS3.createBucket(name);
    PROXY.add(
        Rule.always(
            Match.operation("DELETE").and(not("If-Match")), Fault.Answer.s3(403, "AccessDenied")));

    assertThat(wanted.denials()).filteredOn(ConformanceResult::kept).hasSize(2);
    assertThat(keys()).isEmpty();
  }

  @Test
  void storeThatDoesNotAnswer_isUnavailable() {
    PROXY.add(Rule.always(Match.any(), Fault.Answer.s3(503, "SlowDown")));

    assertThatThrownBy(wanted::denials).isInstanceOf(StoreUnavailableException.class);
  }
}
