package io.firstclaim.lock.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.HttpDates;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.S3Server;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.S3Client;

/** Which buckets claims are kept in; what is made of one is {@link BucketSetupTest}'s. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Resources.SYSTEM_ERR)
class S3BucketTest {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final ClaimSettings SETTINGS = ClaimSettings.of("any", "a");
  private static final FaultProxy PROXY = FaultProxy.start(LocalS3.endpoint());
  private static final S3Client CLIENT =
      LocalS3.unhurried(
              S3Bucket.configure(LocalS3.builder(PROXY.endpoint()).forcePathStyle(null), SETTINGS))
          .build();

  private final String name = LocalS3.newName();
  private final S3Bucket bucket = new S3Bucket(CLIENT, name, "claims/");

  @AfterAll
  static void stop() {
    CLIENT.close();
    PROXY.close();
  }

  @AfterEach
  void mend() {
    PROXY.clear();
  }

  private void assertRefused(S3Client client, String seen) {
    assertThatThrownBy(() -> new S3Bucket(client, name, "claims/").verify())
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage("S3 bucket %s cannot keep claims: %s".formatted(name, seen));
  }

  // Stores that keep conditional writes

  @Test
  void bucketThatKeepsConditionalWrites_isAccepted_andLeftEmpty() {
    LocalS3.createBucket(name);

    assertThatCode(bucket::verify).doesNotThrowAnyException();

    assertThat(CLIENT.listObjectsV2(list -> list.bucket(name)).contents()).isEmpty();
  }

  @Test
  void conformanceCheckWhoseAnswersAreLost_isNoReasonToRefuse() {
    LocalS3.createBucket(name);
    for (Predicate<Request> write :
        List.of(
            Match.pathContains("/conditions").and(Match.bodyContains("first")),
            Match.bodyContains("right"),
            Match.pathContains("/3"),
            Match.bodyContains("next in round 3"))) {
      PROXY.add(Rule.once(Match.operation("PUT").and(write), new Fault.ResetAfterApply()));
    }

    assertThatCode(bucket::verify).doesNotThrowAnyException();
  }

  @Test
  void conflictsInTheConformanceCheck_areTriedAgain() {
    LocalS3.createBucket(name);
    PROXY.add(
        Rule.times(2, Match.operation("PUT"), Fault.Answer.s3(409, "ConditionalRequestConflict")));

    assertThatCode(bucket::verify).doesNotThrowAnyException();
  }

  /** As a Ceph under load answers them: more than the SDK has tokens to try again. */
  private static void conflictForAllWhoLoseARace() {
    Predicate<Request> loses =
        Match.operation("PUT")
            .and(Match.bodyContains(" in round ").or(Match.bodyContains("first by ")))
            .and(Match.bodyContains(" by 0").negate());
    PROXY.add(Rule.always(loses, Fault.Answer.s3(409, "ConcurrentModification")));
  }

  @Test
  void conflictsOfAllWhoLoseARace_stopNoStart() {
    LocalS3.createBucket(name);
    conflictForAllWhoLoseARace();

    assertThat(bucket.checks()).allMatch(ConformanceResult::kept);
  }

  @Test
  void brokenConnectionAfterConflicts_isTriedAgain() {
    LocalS3.createBucket(name);
    conflictForAllWhoLoseARace();
    Rule broken =
        PROXY.add(
            Rule.once(Match.operation("GET").and(Match.pathContains("/7")), new Fault.Refuse()));

    assertThat(bucket.checks()).allMatch(ConformanceResult::kept);
    assertThat(broken.hits()).isEqualTo(1);
  }

  @Test
  void conformanceCheckInConflict_takesNothingFromTheClientsRetries() {
    LocalS3.createBucket(name);
    conflictForAllWhoLoseARace();
    bucket.checks();
    Rule broken = PROXY.add(Rule.times(2, Match.operation("HEAD"), Fault.Answer.status(500)));

    CLIENT.headBucket(head -> head.bucket(name));

    assertThat(broken.hits()).isEqualTo(2);
  }

  /** Answers these operations on an ETag with a conflict, whatever they would have done. */
  private static void inConflict(String... operations) {
    Predicate<Request> onAnETag =
        Match.header("If-Match").and(request -> !"\"0\"".equals(request.header("If-Match")));
    PROXY.add(
        Rule.always(
            Match.operation(operations).and(onAnETag),
            Fault.Answer.s3(409, "ConcurrentModification")));
  }

  @Test
  void conflictOfADelete_deletesNothing() {
    LocalS3.createBucket(name);
    inConflict("DELETE");

    assertThat(bucket.deletes()).matches(ConformanceResult::kept);
  }

  @Test
  void raceOfDeletesThatEndsInConflictsAlone_provesNothing() {
    LocalS3.createBucket(name);
    inConflict("DELETE", "PUT");

    assertThatThrownBy(bucket::deletes).isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void roleThatMayNotDelete_verifies() {
    LocalS3.createBucket(name);
    PROXY.add(Rule.always(Match.operation("DELETE"), Fault.Answer.s3(403, "AccessDenied")));

    assertThatCode(bucket::verify).doesNotThrowAnyException();
  }

  /** As a policy may, which S3 enforces on deletes as it does on writes. */
  @Test
  void bucketThatDeniesDeletesWithoutACondition_isAccepted_andLeftEmpty() {
    LocalS3.createBucket(name);
    PROXY.add(
        Rule.always(
            Match.operation("DELETE").and(Predicate.not(Match.header("If-Match"))),
            Fault.Answer.s3(403, "AccessDenied")));

    assertThat(bucket.checks()).allMatch(ConformanceResult::kept);
    assertThat(bucket.deletes()).matches(ConformanceResult::kept);

    assertThat(CLIENT.listObjectsV2(list -> list.bucket(name)).contents()).isEmpty();
  }

  @Test
  void open_givesAStoreThatClaims() {
    LocalS3.createBucket(name);
    var time = TimeSource.system();

    var store = S3ClaimStore.open(bucket, SETTINGS, time);

    assertThat(store.claim(Claim.of(RecordId.of("id"), Fingerprint.none(), time.now())))
        .isInstanceOf(ClaimResult.Granted.class);
  }

  @Test
  void checks_tellEachConditionAndRace() {
    LocalS3.createBucket(name);

    assertThat(bucket.checks())
        .allMatch(ConformanceResult::kept)
        .extracting(ConformanceResult::name)
        .containsExactly(
            "If-None-Match: * where no object is",
            "If-Match where no object is",
            "read where no object is",
            "If-None-Match: * where one is",
            "If-Match on a wrong ETag",
            "If-Match on the ETag, then on the one before",
            "Date and Last-Modified of a read",
            "If-None-Match: * by 4 slow writers",
            "If-Match by 4 slow writers",
            "If-None-Match: * by 16 writers at once",
            "If-Match by 16 writers at once");
  }

  // Stores that do not

  @Test
  void brokenCondition_isToldApartFromThoseThatAreKept() {
    LocalS3.createBucket(name);
    PROXY.add(
        Rule.always(
            Match.header("If-None-Match").and(Match.bodyContains("second")),
            new Fault.Answer(200, Map.of("ETag", "\"1\""), "")));

    assertThat(bucket.checks())
        .filteredOn(check -> !check.kept())
        .containsExactly(new ConformanceResult("If-None-Match: * where one is", "taken", false));
    assertThat(CLIENT.listObjectsV2(list -> list.bucket(name)).contents()).isEmpty();
  }

  @Test
  void storeWhoseIfMatchIsNotAtomic_isRefused() {
    try (S3Server raw = S3Server.startRaw(JvmTuning.SHORT_RUN);
        S3Client client = LocalS3.builder(raw.endpoint()).build()) {
      raw.createBucket(name);

      // Where one of the slow is half a second before the others, they do not meet.
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(new S3Bucket(client, name, "claims/").checks())
                      .filteredOn(check -> !check.kept())
                      .extracting(ConformanceResult::name)
                      .contains("If-Match by 4 slow writers")
                      .isSubsetOf("If-Match by 16 writers at once", "If-Match by 4 slow writers"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"If-None-Match", "If-Match"})
  void storeThatIgnoresACondition_isRefused(String header) {
    LocalS3.createBucket(name);
    var ignoring =
        new ExecutionInterceptor() {
          @Override
          public SdkHttpRequest modifyHttpRequest(
              Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
            return context.httpRequest().copy(request -> request.removeHeader(header));
          }
        };
    try (S3Client client =
        LocalS3.intercepted(LocalS3.builder(LocalS3.endpoint()), ignoring).build()) {
      assertRefused(
          client,
          header.equals("If-Match")
              ? "If-Match where no object is: an object was created"
              : "If-None-Match: * where one is: taken");
    }
  }

  @Test
  void storeThatTakesAnyETag_isRefused() {
    LocalS3.createBucket(name);
    PROXY.add(
        Rule.always(
            Match.header("If-Match").and(Match.bodyContains("wrong")),
            new Fault.Answer(200, Map.of("ETag", "\"1\""), "")));

    assertRefused(CLIENT, "If-Match on a wrong ETag: taken");
  }

  @Test
  void storeThatAnswersWritesThatItDoesNotKeep_isRefused() {
    LocalS3.createBucket(name);
    PROXY.add(
        Rule.always(
            Match.header("If-Match").and(Match.bodyContains("right")),
            new Fault.Answer(200, Map.of("ETag", "\"1\""), "")));

    assertRefused(CLIENT, "If-Match on the ETag, then on the one before: taken, but not read back");
  }

  @Test
  void storeThatKnowsNoConditions_isRefused() {
    LocalS3.createBucket(name);
    PROXY.add(Rule.always(Match.header("If-None-Match"), Fault.Answer.s3(501, "NotImplemented")));

    assertRefused(
        CLIENT,
        "If-None-Match: * where no object is: answered 501 NotImplemented by the fault proxy");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Date", "Last-Modified"})
  void storeThatTellsNoTime_isRefused(String header) {
    LocalS3.createBucket(name);
    var timeless =
        new ExecutionInterceptor() {
          @Override
          public SdkHttpResponse modifyHttpResponse(
              Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
            return context.httpResponse().copy(response -> response.removeHeader(header));
          }
        };
    try (S3Client client =
        LocalS3.intercepted(LocalS3.builder(LocalS3.endpoint()), timeless).build()) {
      assertRefused(
          client, "Date and Last-Modified of a read: missing, and leases are judged by them");
    }
  }

  /** Objects are stamped by the store, answers by what is in between. */
  @ParameterizedTest
  @ValueSource(longs = {3, 3600})
  void gatewayWhoseDateRunsAhead_isRefused(long seconds) {
    LocalS3.createBucket(name);
    try (S3Client client = ahead(seconds)) {
      // What a request takes is time that may have passed at the store, too: a slow one excuses.
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> new S3Bucket(client, name, "claims/").verify())
                      .isInstanceOf(StoreRefusedException.class)
                      .hasMessageContaining(
                          "Date and Last-Modified of a read: Date runs ahead of Last-Modified by"));
    }
  }

  @Test
  void gatewayWhoseDateLagsBehind_isAccepted() {
    LocalS3.createBucket(name);
    try (S3Client client = ahead(-3600)) {
      assertThatCode(new S3Bucket(client, name, "claims/")::verify).doesNotThrowAnyException();
    }
  }

  private static S3Client ahead(long seconds) {
    var gateway =
        new ExecutionInterceptor() {
          @Override
          public SdkHttpResponse modifyHttpResponse(
              Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
            Instant date = HttpDates.parsed(header(context.httpResponse(), "Date")).orElseThrow();
            return context
                .httpResponse()
                .copy(
                    response ->
                        response.putHeader(
                            "Date",
                            DateTimeFormatter.RFC_1123_DATE_TIME.format(
                                date.plusSeconds(seconds).atOffset(ZoneOffset.UTC))));
          }
        };
    return LocalS3.intercepted(LocalS3.builder(LocalS3.endpoint()), gateway).build();
  }

  private static String header(SdkHttpResponse response, String name) {
    return response.firstMatchingHeader(name).orElseThrow();
  }

  @Test
  void missingBucket_isRefused_withTheRemedy() {
    assertThatThrownBy(bucket::verify)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage(
            "S3 bucket %s is missing; create it, or have it created at the start".formatted(name));
  }

  @Test
  void directoryBucket_isRefused_withTheReason() {
    var express = new S3Bucket(CLIENT, "claims--use1-az4--x-s3", "claims/");

    assertThatThrownBy(express::verify)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageStartingWith(
            "S3 bucket claims--use1-az4--x-s3 cannot keep claims: kind of the bucket: a directory"
                + " bucket (S3 Express One Zone), ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "claims-ap--use1-az4--xa-s3",
        "mfzwi23gnjvgw.mrap",
        "arn:aws:s3::123456789012:accesspoint/mfzwi23gnjvgw.mrap"
      })
  void accessPointToADirectoryBucketOrSeveralRegions_isRefused(String unfit) {
    assertThatThrownBy(new S3Bucket(CLIENT, unfit, "claims/")::verify)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("cannot keep claims: kind of the bucket: ")
        .hasMessageEndingWith(". Use a general purpose bucket");
  }

  @Test
  void gatewaysNotFound_isUnavailable_neitherAMissingBucketNorAMissingObject() {
    LocalS3.createBucket(name);
    PROXY.add(Rule.always(Match.operation("GET"), Fault.Answer.status(404)));

    assertThatThrownBy(bucket::verify).isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void roleThatMayNotList_isRefused_asAMissingObjectIsThenDenied() {
    LocalS3.createBucket(name);
    PROXY.add(
        Rule.always(
            Match.operation("GET").and(Match.pathContains("/nothing")),
            Fault.Answer.s3(403, "AccessDenied")));

    assertThatThrownBy(bucket::verify)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("It takes the permission s3:ListBucket; claims need ");
  }

  @ParameterizedTest
  @CsvSource({"PUT,s3:PutObject", "GET,s3:GetObject"})
  void roleWithoutAPermission_isRefused_withWhatClaimsNeed(String method, String permission) {
    LocalS3.createBucket(name);
    PROXY.add(Rule.always(Match.operation(method), Fault.Answer.s3(403, "AccessDenied")));

    assertThatThrownBy(bucket::verify)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessage(
            ("S3 bucket %1$s: 403 AccessDenied by the fault proxy. It takes the permission %2$s;"
                    + " claims need s3:GetObject, s3:PutObject and s3:DeleteObject on %1$s/claims/*"
                    + " and s3:ListBucket on %1$s, without which a missing object is answered 403")
                .formatted(name, permission));
  }

  @Test
  void storeThatDoesNotAnswer_isUnavailable_notRefused() {
    LocalS3.createBucket(name);
    PROXY.add(Rule.always(Match.any(), Fault.Answer.s3(503, "SlowDown")));

    assertThatThrownBy(bucket::verify)
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessage("S3 bucket %s: 503 SlowDown by the fault proxy".formatted(name));
  }

  // Prefixes

  /** Under {@code claims}, {@code claims-archive/…} would expire, and the identity too. */
  @ParameterizedTest
  @ValueSource(strings = {"", "claims", "a/claims", "/", "/claims/", "a//", "a//claims/"})
  void prefixThatIsNotAFolder_isRefused_withTheRemedy(String prefix) {
    assertThatThrownBy(() -> new S3Bucket(CLIENT, name, prefix))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "prefix \"%s\" in S3 bucket %s would share what it begins with: give parts that end in /,"
                    .formatted(prefix, name)
                + " such as claims/");
  }

  @ParameterizedTest
  @ValueSource(strings = {"claims/", "a/b.c/", "Ansprüche von A/"})
  void prefixThatIsAFolder_isAccepted(String prefix) {
    assertThat(new S3Bucket(CLIENT, name, prefix).prefix()).isEqualTo(prefix);
  }

  // Client

  @Test
  void configure_boundsEveryCall_andKeepsWhatTheCallerHasSet() {
    var settings =
        new ClaimSettings(
            "any", "a", Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofDays(8));
    var interceptor = new ExecutionInterceptor() {};

    var configured =
        S3Bucket.configure(
                LocalS3.intercepted(LocalS3.builder(PROXY.endpoint()), interceptor), settings)
            .overrideConfiguration();

    assertThat(configured.apiCallTimeout()).contains(settings.storeTimeout());
    assertThat(configured.apiCallAttemptTimeout().orElseThrow())
        .isLessThan(settings.storeTimeout().dividedBy(2));
    assertThat(configured.executionInterceptors()).contains(interceptor);
  }

  @Test
  void configure_findsBucketsInThePath_whereTheEndpointIsNotAws() {
    LocalS3.createBucket(name);
    Predicate<Request> inThePath = request -> request.path().startsWith("/" + name);
    Rule seen = PROXY.add(Rule.always(inThePath, new Fault.DelayRequest(Duration.ZERO)));

    CLIENT.headBucket(head -> head.bucket(name));

    assertThat(seen.hits()).isEqualTo(1);
  }
}
