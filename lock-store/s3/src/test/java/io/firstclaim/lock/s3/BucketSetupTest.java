package io.firstclaim.lock.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * What is made of a bucket. The server here has neither policies nor lifecycle; where a test needs
 * them, the proxy answers as S3 does and keeps what it was sent.
 */
@ResourceLock(Resources.SYSTEM_ERR)
class BucketSetupTest {
  private static final ClaimSettings SETTINGS =
      new ClaimSettings(
          "any", "a", Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofDays(8));
  private static final FaultProxy PROXY = FaultProxy.start(LocalS3.endpoint());
  private static final S3Client CLIENT =
      LocalS3.unhurried(S3Bucket.configure(LocalS3.builder(PROXY.endpoint()), SETTINGS)).build();

  private static final String LIFECYCLE = "?lifecycle";
  private static final String POLICY = "?policy";
  private static final String PUBLIC = "?publicAccessBlock";

  private final String name = LocalS3.newName();
  private final S3Bucket bucket = new S3Bucket(CLIENT, name, "claims/");
  private final Map<String, String> sent = new ConcurrentHashMap<>();

  @AfterAll
  static void stop() {
    CLIENT.close();
    PROXY.close();
  }

  @AfterEach
  void mend() {
    PROXY.clear();
  }

  /** S3 has, or has not yet, this part of a bucket's configuration. */
  private void has(String part, Fault found) {
    Predicate<Request> concerned = Match.pathContains(part);
    PROXY.add(
        Rule.always(
            concerned.and(Match.operation("GET")).and(_ -> !sent.containsKey(part)), found));
    Predicate<Request> kept =
        request -> {
          sent.put(part, request.body());
          PROXY.add(
              Rule.always(
                  concerned.and(Match.operation("GET")),
                  new Fault.Answer(200, Map.of(), request.body())));
          return true;
        };
    PROXY.add(
        Rule.always(concerned.and(Match.operation("PUT")).and(kept), Fault.Answer.status(200)));
  }

  private void hasNothing() {
    has(LIFECYCLE, Fault.Answer.s3(404, "NoSuchLifecycleConfiguration"));
    has(POLICY, Fault.Answer.s3(404, "NoSuchBucketPolicy"));
    has(PUBLIC, Fault.Answer.s3(404, "NoSuchPublicAccessBlockConfiguration"));
  }

  @Test
  void createdBucket_verifies() {
    bucket.create(SETTINGS);

    assertThatCode(bucket::verify).doesNotThrowAnyException();
  }

  /** Ceph keeps to the policy, but knows none of the conditions. */
  @Test
  void createdBucket_letsConditionalDeletesThrough_whateverTheStoreMakesOfItsPolicy() {
    bucket.create(SETTINGS);
    String eTag =
        CLIENT
            .putObject(
                put -> put.bucket(name).key("claims/00").ifNoneMatch("*"), RequestBody.empty())
            .eTag();

    assertThatCode(
            () -> CLIENT.deleteObject(delete -> delete.bucket(name).key("claims/00").ifMatch(eTag)))
        .doesNotThrowAnyException();
  }

  @Test
  void creatingTwice_isFine_andKeepsWhatIsThere() {
    var time = TimeSource.system();
    bucket.create(SETTINGS);
    var store = S3ClaimStore.open(bucket, SETTINGS, time);
    store.claim(Claim.of(RecordId.of("id"), Fingerprint.none(), time.now()));

    bucket.create(SETTINGS);

    assertThat(store.find(RecordId.of("id"))).isPresent();
  }

  @Test
  void storeWithoutPolicyAndLifecycle_isWarnedOfOnceEach() {
    String log = logOf(() -> bucket.create(SETTINGS));

    assertThat(log.lines().filter(line -> line.contains("WARN") && line.contains(name)))
        .satisfiesExactlyInAnyOrder(
            line ->
                assertThat(line)
                    .contains("has no lifecycle rule under claims/")
                    .contains("501 NotImplemented"),
            line ->
                assertThat(line).contains("has no policy against unconditional writes and deletes"),
            line -> assertThat(line).contains("is not known to block public access"));
  }

  @Test
  void lifecycleRule_removesWhatIsOlderThanRetentionAndLease_andOldVersions() {
    hasNothing();

    bucket.create(SETTINGS);

    assertThat(sent.get(LIFECYCLE))
        .contains("<ID>firstclaim-claims/</ID>")
        .contains("<Filter><Prefix>claims/</Prefix></Filter>")
        .contains("<Status>Enabled</Status>")
        .as("eight days and a lease, in whole days")
        .contains("<Expiration><Days>9</Days></Expiration>")
        .contains(
            "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>");
  }

  /** Another namespace, or an earlier start, may have asked for more than this one. */
  @Test
  void lifecycleRuleThatKeepsLonger_stays() {
    hasRule("firstclaim-claims/", "claims/", 367);

    bucket.create(SETTINGS);

    assertThat(sent.get(LIFECYCLE))
        .contains("<ID>firstclaim-claims/</ID>")
        .containsOnlyOnce("<Rule>")
        .contains("<Days>367</Days>");
  }

  @Test
  void lifecycleRuleThatKeepsShorter_isMadeLonger() {
    hasRule("firstclaim-claims/", "claims/", 3);

    bucket.create(SETTINGS);

    assertThat(sent.get(LIFECYCLE)).containsOnlyOnce("<Rule>").contains("<Days>9</Days>");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "cl", "claims/", "claims/00/"})
  void ruleOfOthers_thatRemovesClaimsTooEarly_isWarnedOf(String prefix) {
    hasRule("theirs", prefix, 3);

    assertThat(logOf(() -> bucket.create(SETTINGS)))
        .contains(
            "S3 bucket %s has a lifecycle rule theirs that removes after 3 days".formatted(name))
        .contains("claims must stay for 9: make it longer");
  }

  @Test
  void ruleOfOthers_thatDoesNotConcernClaims_isNotWarnedOf() {
    hasRule("theirs", "logs/", 3);
    assertThat(logOf(() -> bucket.create(SETTINGS))).doesNotContain("theirs");
    PROXY.clear();
    hasRule("theirs", "claims/", 30);
    assertThat(logOf(() -> bucket.create(SETTINGS))).doesNotContain("theirs");
  }

  private void hasRule(String id, String prefix, int days) {
    hasRule(
        ("<ID>%s</ID><Filter><Prefix>%s</Prefix></Filter><Status>Enabled</Status>"
                + "<Expiration><Days>%d</Days></Expiration>")
            .formatted(id, prefix, days));
  }

  private void hasRule(String rule) {
    has(
        LIFECYCLE,
        new Fault.Answer(
            200,
            Map.of("Content-Type", "application/xml"),
            "<LifecycleConfiguration><Rule>%s</Rule></LifecycleConfiguration>".formatted(rule)));
  }

  // A rule that is missing, as it is seen when a store is opened

  private String logOfOpening() {
    LocalS3.createBucket(name);
    return logOf(
        () -> {
          var _ = S3ClaimStore.open(bucket, SETTINGS, TimeSource.system());
        });
  }

  @Test
  void openedBucketWithoutALifecycleRule_isWarnedOf() {
    hasNothing();

    assertThat(logOfOpening())
        .contains("WARN")
        .contains("S3 bucket %s has no lifecycle rule that removes what is under".formatted(name))
        .contains("claims/: finished claims stay until a sweeper removes them");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<Filter><Prefix>claims/00/</Prefix></Filter><Status>Enabled</Status>"
            + "<Expiration><Days>9</Days></Expiration>",
        "<Filter><Prefix>claims/</Prefix></Filter><Status>Disabled</Status>"
            + "<Expiration><Days>9</Days></Expiration>",
        "<Filter><Prefix>claims/</Prefix></Filter><Status>Enabled</Status>"
            + "<NoncurrentVersionExpiration><NoncurrentDays>9</NoncurrentDays></NoncurrentVersionExpiration>",
        "<Filter><And><Prefix>claims/</Prefix><Tag><Key>a</Key><Value>b</Value></Tag></And></Filter>"
            + "<Status>Enabled</Status><Expiration><Days>9</Days></Expiration>",
        "<Filter><ObjectSizeGreaterThan>99</ObjectSizeGreaterThan></Filter>"
            + "<Status>Enabled</Status><Expiration><Days>9</Days></Expiration>",
      })
  void ruleThatDoesNotRemoveEveryClaim_isNone(String rule) {
    hasRule("<ID>theirs</ID>" + rule);

    assertThat(logOfOpening()).contains("has no lifecycle rule that removes");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<Filter><Prefix>claims/</Prefix></Filter>",
        "<Filter><Prefix>cl</Prefix></Filter>",
        "<Filter><Prefix></Prefix></Filter>",
        "<Filter></Filter>",
        "<Prefix>claims/</Prefix>"
      })
  void ruleThatRemovesEveryClaim_isNotWarnedOf(String filter) {
    hasRule(
        "<ID>theirs</ID>%s<Status>Enabled</Status><Expiration><Days>9</Days></Expiration>"
            .formatted(filter));

    assertThat(logOfOpening()).doesNotContain("lifecycle");
  }

  @ParameterizedTest
  @ValueSource(strings = {"<Filter></Filter>", "<Prefix>claims/</Prefix>"})
  void shortRuleOfAnyForm_isWarnedOfWhenABucketIsOpened(String filter) {
    hasRule(
        "<ID>theirs</ID>%s<Status>Enabled</Status><Expiration><Days>3</Days></Expiration>"
            .formatted(filter));

    assertThat(logOfOpening())
        .contains("has a lifecycle rule theirs that removes after 3 days")
        .contains("claims must stay for 9");
  }

  @Test
  void roleThatMayNotReadTheRules_isTold_asNobodyKnowsThen() {
    has(LIFECYCLE, Fault.Answer.s3(403, "AccessDenied"));

    assertThat(logOfOpening())
        .contains(
            "Whether S3 bucket %s has a lifecycle rule that removes claims under claims/ is not"
                .formatted(name))
        .contains("403 AccessDenied")
        .contains("s3:GetLifecycleConfiguration")
        .doesNotContain("WARN");
  }

  @Test
  void lifecycleRulesOfOthers_areKept() {
    hasRule("theirs", "logs/", 3);

    bucket.create(SETTINGS);

    assertThat(sent.get(LIFECYCLE))
        .contains("<ID>theirs</ID>")
        .contains("<ID>firstclaim-claims/</ID>");
  }

  private BucketPolicy policyOf(ProtectedPrefix... prefixes) {
    return new BucketPolicy(CLIENT, name, List.of(prefixes));
  }

  @Test
  void policy_deniesWritesAndDeletesWithoutACondition_asInTheGuide() {
    hasNothing();

    bucket.create(SETTINGS);

    assertThat(sent.get(POLICY))
        .isEqualToIgnoringWhitespace(
            """
            {"Version": "2012-10-17",
             "Statement": [
               {"Sid": "FirstclaimDenyUnconditionalWrites",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:PutObject",
                "Resource": ["arn:aws:s3:::%1$s/claims/*"],
                "Condition": {
                  "Null": {"s3:if-none-match": "true", "s3:if-match": "true"},
                  "Bool": {"s3:ObjectCreationOperation": "true"}}},
               {"Sid": "FirstclaimDenyUnconditionalDeletes",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:DeleteObject",
                "Resource": ["arn:aws:s3:::%1$s/claims/*"],
                "Condition": {
                  "Null": {"s3:if-match": "true"},
                  "StringLike": {"aws:PrincipalAccount": "*"}}}]}
            """
                .formatted(name));
  }

  @Test
  void policy_deniesWritesOver_whatIsWrittenOnce() {
    hasNothing();

    bucket.create(
        SETTINGS,
        List.of(ProtectedPrefix.once("datasets/"), ProtectedPrefix.onCondition("metastore/")));

    assertThat(String.valueOf(sent.get(POLICY)).replaceAll("\\s+", " "))
        .contains(
            """
            "Action": "s3:PutObject", "Resource": ["arn:aws:s3:::%1$s/claims/*", \
            "arn:aws:s3:::%1$s/metastore/*"], "Condition": {"Null": {"s3:if-none-match": "true", \
            "s3:if-match": "true"}, "Bool": {"s3:ObjectCreationOperation": "true"}}"""
                .formatted(name))
        .contains(
            """
            "Action": "s3:PutObject", "Resource": ["arn:aws:s3:::%1$s/datasets/*"], \
            "Condition": {"Null": {"s3:if-none-match": "true"}, \
            "Bool": {"s3:ObjectCreationOperation": "true"}}"""
                .formatted(name))
        .contains(
            """
            "Action": "s3:DeleteObject", "Resource": ["arn:aws:s3:::%1$s/claims/*", \
            "arn:aws:s3:::%1$s/datasets/*", "arn:aws:s3:::%1$s/metastore/*"], \
            "Condition": {"Null": {"s3:if-match": "true"}, \
            "StringLike": {"aws:PrincipalAccount": "*"}}"""
                .formatted(name));
    assertThat(policyOf(ProtectedPrefix.once("datasets/")).missing()).isEmpty();
    assertThat(policyOf(ProtectedPrefix.onCondition("metastore/")).missing()).isEmpty();
    assertThat(policyOf(ProtectedPrefix.once("metastore/")).missing())
        .as("it lets what is there be written over")
        .isPresent();
  }

  @Test
  void policyThatLacksAPrefix_isToldWithWhatItShouldHave() {
    hasNothing();
    bucket.create(SETTINGS);

    assertThat(policyOf(ProtectedPrefix.once("datasets/")).missing())
        .get()
        .asString()
        .contains("arn:aws:s3:::%s/datasets/*".formatted(name))
        .doesNotContain("\n");
  }

  @Test
  void bucketWithoutAPolicy_isToldWithWhatItShouldHave() {
    hasNothing();

    assertThat(policyOf(ProtectedPrefix.once("datasets/")).missing()).isPresent();
  }

  @Test
  void policyOfOthers_isLeft_andTheStatementsShown() {
    hasNothing();
    PROXY.clear();
    has(POLICY, new Fault.Answer(200, Map.of(), "{\"Version\":\"2012-10-17\",\"Statement\":[]}"));

    String log = logOf(() -> bucket.create(SETTINGS));

    assertThat(sent).doesNotContainKey(POLICY);
    assertThat(log)
        .contains("has a policy already, which is left as it is")
        .contains("\"Sid\": \"FirstclaimDenyUnconditionalWrites\"")
        .contains("\"Sid\": \"FirstclaimDenyUnconditionalDeletes\"");
  }

  @Test
  void publicAccess_isBlocked() {
    hasNothing();

    bucket.create(SETTINGS);

    assertThat(sent.get(PUBLIC))
        .contains("<BlockPublicAcls>true</BlockPublicAcls>")
        .contains("<IgnorePublicAcls>true</IgnorePublicAcls>")
        .contains("<BlockPublicPolicy>true</BlockPublicPolicy>")
        .contains("<RestrictPublicBuckets>true</RestrictPublicBuckets>");
  }

  @Test
  void creationThatIsNotAllowed_isRefused_withThePermissionItTakes() {
    PROXY.add(Rule.always(Match.operation("PUT"), Fault.Answer.s3(403, "AccessDenied")));

    assertThatThrownBy(() -> bucket.create(SETTINGS))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage(
            "S3 bucket %s: 403 AccessDenied by the fault proxy. It takes the permission s3:CreateBucket; or create it yourself"
                .formatted(name));
  }

  static String logOf(Runnable action) {
    PrintStream before = System.err;
    var captured = new ByteArrayOutputStream();
    System.setErr(new PrintStream(captured, true, StandardCharsets.UTF_8));
    try {
      action.run();
    } finally {
      System.setErr(before);
    }
    return captured.toString(StandardCharsets.UTF_8);
  }
}
