package io.firstclaim.lock.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * What is under a claim's key and is not a claim: a fault that says where, and nothing is granted.
 */
class ForeignObjectTest {
  private static final RecordId ID = RecordId.of("order-4711");

  private final ManualTime time = ManualTime.start();
  private final ClaimSettings settings = ClaimSettings.of("foreign-" + Nonce.random(), "a");
  private final Claimant a = new Claimant(LocalS3.store(settings, time, time), time);

  private String key(RecordId id) {
    return LocalS3.bucket(LocalS3.client()).key(id.key(settings.namespace()));
  }

  private void put(String body) {
    LocalS3.client()
        .putObject(
            put -> put.bucket(LocalS3.BUCKET).key(key(ID)),
            RequestBody.fromBytes(body.getBytes(StandardCharsets.UTF_8)));
  }

  private String eTag() {
    return LocalS3.client().headObject(head -> head.bucket(LocalS3.BUCKET).key(key(ID))).eTag();
  }

  private String body(RecordId id) {
    return LocalS3.client()
        .getObjectAsBytes(get -> get.bucket(LocalS3.BUCKET).key(key(id)))
        .asUtf8String();
  }

  static List<String> bodies() {
    return List.of(
        "",
        "{",
        "null",
        "[]",
        "{}",
        "\u0000\u00ff",
        "<html>",
        "[".repeat(100_000),
        "{\"namespace\":\"n\",\"id\":\"%%%\"}",
        "{\"namespace\":\"n\",\"id\":\"\"}",
        "x".repeat(Marker.MAX_BYTES + 1));
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void bodyThatIsNoMarker_isAFaultThatNamesBucketAndKey_andStays(String body) {
    put(body);

    assertThatThrownBy(() -> a.claim(ID))
        .isInstanceOf(UnreadableClaimException.class)
        .hasMessageStartingWith("object %s of S3 bucket claims is not a claim: ".formatted(key(ID)))
        .hasMessageEndingWith(
            ". Is the prefix used by something else? If not: aws s3api delete-object --bucket claims"
                + " --key '%s' --if-match '%s'".formatted(key(ID), eTag()))
        .message()
        .hasSizeLessThan(1000)
        .doesNotContainPattern("\\p{Cntrl}");
    assertThat(body(ID)).isEqualTo(body);
  }

  @Test
  void truncatedMarker_isAFault_atEveryLength() {
    Lease lease = a.acquire(ID);
    String whole = body(ID);
    for (int length = 1; length < whole.length(); length += 7) {
      put(whole.substring(0, length));
      assertThatThrownBy(() -> a.claim(ID)).isInstanceOf(UnreadableClaimException.class);
      assertThatThrownBy(() -> a.store().complete(lease, null))
          .isInstanceOf(UnreadableClaimException.class);
    }
  }

  @Test
  void markerOfAnotherId_isAFault() {
    RecordId other = RecordId.of("other");
    a.acquire(other);
    put(body(other));

    assertThatThrownBy(() -> a.store().find(ID))
        .isInstanceOf(UnreadableClaimException.class)
        .hasMessageContaining("it is that of another ID");
  }

  @Test
  void resultThatIsTooLong_isRefused_andTheLeaseStands() {
    Lease lease = a.acquire(ID);

    assertThatThrownBy(() -> a.store().complete(lease, "x".repeat(Marker.MAX_BYTES)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(lease.remaining(time.now())).isEqualTo(Duration.ofSeconds(27));
    assertThat(a.heldOff(ID).by()).isEqualTo("a");
  }

  @Test
  void halfASurrogatePair_isWrittenAsAQuestionMark() {
    a.store().complete(a.acquire(ID), "\ud83d");

    assertThat(body(ID)).contains("\"result\":\"?\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "1.5", "\"1\"", "null", "99999999999999999999"})
  void freeMarkerWhoseTokenIsCorrupt_isAFault_neverAGrant(String token) {
    a.store().release(a.acquire(ID), time.now().wall(), "again");
    time.advance(Duration.ofSeconds(2));
    String corrupt = body(ID).replace("\"token\":1,", "\"token\":" + token + ",");
    put(corrupt);

    assertThatThrownBy(() -> a.claim(ID)).isInstanceOf(UnreadableClaimException.class);
    assertThat(body(ID)).isEqualTo(corrupt).contains(token);
  }
}
