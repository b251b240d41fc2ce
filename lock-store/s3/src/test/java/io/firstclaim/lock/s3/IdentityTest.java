package io.firstclaim.lock.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

class IdentityTest {
  private static final ClaimSettings SETTINGS = ClaimSettings.of("any", "a");
  private static final FaultProxy PROXY = FaultProxy.start(LocalS3.endpoint());
  private static final S3Client CLIENT =
      LocalS3.unhurried(S3Bucket.configure(LocalS3.builder(PROXY.endpoint()), SETTINGS)).build();

  private final String name = LocalS3.newName();
  private final S3Bucket bucket = new S3Bucket(CLIENT, name, "claims/");

  @BeforeEach
  void create() {
    LocalS3.createBucket(name);
  }

  @AfterAll
  static void stop() {
    CLIENT.close();
    PROXY.close();
  }

  @AfterEach
  void mend() {
    PROXY.clear();
  }

  private String stored() {
    return CLIENT.getObjectAsBytes(get -> get.bucket(name).key("claims.identity")).asUtf8String();
  }

  @Test
  void openedBucket_hasAnIdentity_besideThePrefixWhereObjectsExpire() {
    String identity = S3ClaimStore.open(bucket, SETTINGS, TimeSource.system()).identity();

    assertThat(stored()).isEqualTo(identity);
    assertThat(new S3Bucket(CLIENT, name, "claims/").identity()).isEqualTo(identity);
    assertThat(new S3Bucket(CLIENT, name, "others/").identity()).isNotEqualTo(identity);
  }

  // Copies

  private S3Bucket copied(String toBucket, String toPrefix) {
    String to = toPrefix.replace("/", ".identity");
    CLIENT.copyObject(
        copy ->
            copy.sourceBucket(name)
                .sourceKey("claims.identity")
                .destinationBucket(toBucket)
                .destinationKey(to));
    return new S3Bucket(CLIENT, toBucket, toPrefix);
  }

  @Test
  void copiedBucketOrPrefix_hasAnIdentityOfItsOwn() {
    String original = bucket.identity();
    String another = LocalS3.newName();
    LocalS3.createBucket(another);

    S3Bucket inAnother = copied(another, "claims/");
    S3Bucket beside = copied(name, "others/");

    assertThat(inAnother.identity()).matches("[0-9a-f]{32}").isEqualTo(inAnother.identity());
    assertThat(Set.of(original, inAnother.identity(), beside.identity())).hasSize(3);
    assertThat(bucket.identity()).isEqualTo(original);
  }

  /** Instances from before and after agree, while they follow one another. */
  @Test
  void identityOfAnEarlierBuild_stays_andIsNotThatOfItsCopiesFromThenOn() {
    String earlier = madeByAnEarlierBuild();
    PROXY.add(Rule.once(Match.operation("PUT"), new Fault.ResetAfterApply()));

    assertThat(bucket.identity()).isEqualTo(earlier);
    assertThat(stored()).isEqualTo(earlier);
    assertThat(bucket.identity()).isEqualTo(earlier);
    assertThat(copied(name, "others/").identity()).isNotEqualTo(earlier);
  }

  private String madeByAnEarlierBuild() {
    String nonce = Nonce.random().toString();
    var _ =
        CLIENT.putObject(
            put -> put.bucket(name).key("claims.identity"), RequestBody.fromString(nonce));
    return nonce;
  }

  // Faults

  @Test
  void manyThatOpenABucketAtOnce_findOneIdentity() {
    Set<String> found = ConcurrentHashMap.newKeySet();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 16; i++) {
        threads.execute(() -> found.add(bucket.identity()));
      }
    }

    assertThat(found).containsExactly(stored());
  }

  @Test
  void identityWhoseAnswerIsLost_isReadBack() {
    PROXY.add(Rule.once(Match.operation("PUT"), new Fault.ResetAfterApply()));

    assertThat(bucket.identity()).isEqualTo(stored());
  }

  @Test
  void identityThatMayNotBeWritten_isRefused_withThePermissionItTakes() {
    PROXY.add(Rule.always(Match.operation("PUT"), Fault.Answer.s3(403, "AccessDenied")));

    assertThatThrownBy(bucket::identity)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("object claims.identity of S3 bucket " + name)
        .hasMessageContaining("s3:PutObject");
  }

  @Test
  void anotherObjectInItsPlace_isRefused() {
    var _ =
        CLIENT.putObject(
            put -> put.bucket(name).key("claims.identity"), RequestBody.fromString("x".repeat(99)));

    assertThatThrownBy(bucket::identity)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("holds no identity");
  }

  @Test
  void bucketThatDoesNotAnswer_isUnavailable() {
    PROXY.add(Rule.always(Match.operation("GET"), Fault.Answer.s3(503, "SlowDown")));

    assertThatThrownBy(bucket::identity).isInstanceOf(StoreUnavailableException.class);
  }
}
