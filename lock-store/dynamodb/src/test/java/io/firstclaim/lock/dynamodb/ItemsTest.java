package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** How items of the table are read: items made here, and those that the store leaves there. */
class ItemsTest {
  private static final RecordId ID = RecordId.of(new byte[] {0, (byte) 0xff});
  private static final Instant AT = Instant.ofEpochMilli(4_102_444_800_123L);
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration RETENTION = Duration.ofDays(8);

  private final ManualTime time = ManualTime.start();
  private final ClaimSettings settings =
      new ClaimSettings("items-" + Nonce.random(), "a", LEASE, Duration.ofSeconds(1), RETENTION);
  private final Claimant a = new Claimant(LocalDynamoDb.store(settings, time), time);
  private final AttributeValue key = Items.text(ID.key(settings.namespace()));

  private static Map<String, AttributeValue> encoded(ClaimState state) {
    var claim = new ClaimRecord(7, 3, new Nonce(1, 2), Claimant.PAYLOAD, state);
    return Items.encode(Items.text("key"), ID, claim, Items.number(1));
  }

  private Map<String, AttributeValue> item() {
    return LocalDynamoDb.client()
        .getItem(
            get ->
                get.tableName(LocalDynamoDb.TABLE).key(Map.of(Items.KEY, key)).consistentRead(true))
        .item();
  }

  private void put(Map<String, AttributeValue> item) {
    LocalDynamoDb.client().putItem(put -> put.tableName(LocalDynamoDb.TABLE).item(item));
  }

  @Test
  void everyState_isReadAsItWasWritten() {
    for (ClaimState state :
        List.of(
            new ClaimState.Held("a", LEASE, AT),
            new ClaimState.Held("a", LEASE, AT, "another record"),
            new ClaimState.Free(AT, "cause"),
            new ClaimState.Done("a", AT, "result"),
            new ClaimState.Done("a", AT, null),
            new ClaimState.Dead("a", AT, ""))) {
      assertThat(Items.decode(encoded(state)))
          .isEqualTo(new ClaimRecord(7, 3, new Nonce(1, 2), Claimant.PAYLOAD, state));
    }
  }

  @Test
  void redrive_isReadAsItWasWritten_andIsAbsentInWhatWasNeverRedriven() {
    ClaimState free = new ClaimState.Free(AT, "cause");
    var claim =
        new ClaimRecord(7, 0, new Nonce(1, 2), Claimant.PAYLOAD, free, new RedriveId("redrive-1"));

    Map<String, AttributeValue> item = Items.encode(Items.text("key"), ID, claim, Items.number(1));

    assertThat(Items.decode(item)).isEqualTo(claim);
    assertThat(encoded(free)).doesNotContainKey(Items.REDRIVE);
    assertThat(Items.decode(encoded(free)).redrive()).isNull();
  }

  @Test
  void spaceOfAnId_isInItsItem_butForARecords() {
    var claim =
        new ClaimRecord(7, 3, new Nonce(1, 2), Claimant.PAYLOAD, new ClaimState.Free(AT, "cause"));

    assertThat(Items.encode(Items.text("key"), ID, claim, Items.number(1)))
        .doesNotContainKey(Items.ID_SPACE);
    assertThat(Items.encode(Items.text("key"), ID.asMutex(), claim, Items.number(1)))
        .containsEntry(Items.ID_SPACE, Items.text("MUTEX"));
  }

  @Test
  void textWhereANumberBelongs_isNamed() {
    Map<String, AttributeValue> item = new HashMap<>(encoded(new ClaimState.Free(AT, "cause")));
    item.put(Items.TOKEN, Items.text("7"));

    assertThatIllegalStateException()
        .isThrownBy(() -> Items.decode(item))
        .withMessage(Items.TOKEN + " is not a number");
  }

  @Test
  void item_hasTheRawIdBytes_andAHashedKey() {
    a.acquire(ID);

    assertThat(item().get(Items.RECORD_ID)).isEqualTo(Items.bytes(ID.bytes()));
    assertThat(key.s()).matches("[0-9a-f]{64}");
  }

  @Test
  void expiry_isRetentionAndALeaseAfterTheLastWrite_inSeconds() {
    Lease lease = a.acquire(ID);
    assertExpires(time.now().wall());
    for (Step step : List.of(Step.RENEW, Step.COMPLETE)) {
      time.advance(Duration.ofSeconds(10));
      lease = Claimant.settled(step.take(a.store(), lease));
      assertExpires(time.now().wall());
    }
  }

  @Test
  void expiryOfARecordDueLater_countsFromWhenItIsDue() {
    Instant retryAt = time.now().wall().plus(RETENTION.multipliedBy(2));

    a.store().release(a.acquire(ID), retryAt, "much later");

    assertExpires(retryAt);
  }

  private void assertExpires(Instant last) {
    assertThat(item().get(Items.EXPIRES_AT))
        .isEqualTo(Items.number(last.plus(RETENTION).plus(LEASE).getEpochSecond()));
  }

  @Test
  void grantOverAReleasedRecord_leavesNothingOfTheRelease() {
    a.acquire(ID);
    List<String> attributes = item().keySet().stream().sorted().toList();
    time.advance(Duration.ofHours(1));
    a.store().release(a.acquire(ID), time.now().wall(), "cause");

    a.acquire(ID);

    assertThat(item().keySet().stream().sorted()).containsExactlyElementsOf(attributes);
  }

  @Test
  void itemThatIsNoClaim_isAFaultThatNamesTableAndKey_andIsLeftAlone() {
    for (Map<String, AttributeValue> broken : brokenItems()) {
      put(broken);
      Lease lease = new Lease(ID, "a", 7, 3, Claimant.PAYLOAD, new Nonce(1, 2), time.now(), LEASE);

      assertFault(() -> a.store().claim(Claim.of(ID, Claimant.PAYLOAD, time.now())));
      assertFault(() -> a.store().claim(Claim.of(ID, Claimant.OTHER_PAYLOAD, time.now())));
      assertFault(() -> a.store().find(ID));
      assertFault(() -> a.store().renew(forged(lease)));

      assertThat(item()).isEqualTo(broken);
    }
  }

  private static Lease forged(Lease lease) {
    return new Lease(
        lease.id(),
        lease.holder(),
        lease.token() + 1,
        lease.attempt(),
        lease.fingerprint(),
        lease.nonce(),
        lease.start(),
        lease.length());
  }

  private void assertFault(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(UnreadableClaimException.class)
        .hasMessageStartingWith(
            "item %s of DynamoDB table claims is not a claim: ".formatted(key.s()))
        .hasMessageEndingWith(". Is the table used by something else?");
  }

  /** Items that are running claims but for one attribute, and items of somebody else. */
  private List<Map<String, AttributeValue>> brokenItems() {
    return List.of(
        Map.of(Items.KEY, key),
        Map.of(Items.KEY, key, "lockOwner", Items.text("dynamodb-lock-client")),
        with(Items.TOKEN, Items.text("7")),
        with(Items.TOKEN, AttributeValue.fromN("7.5")),
        with(Items.ATTEMPTS, AttributeValue.fromN("99999999999")),
        with(Items.NONCE, Items.text("short")),
        with(Items.NONCE, Items.number(1)),
        with(Items.FINGERPRINT, Items.text("no binary")),
        with(Items.FINGERPRINT, Items.bytes(new byte[] {1})),
        with(Items.STATE, Items.text("LOCKED")),
        with(Items.HOLDER, AttributeValue.fromBool(true)),
        with(Items.LEASE_MILLIS, Items.text("30s")),
        with(Items.LEASE_END, AttributeValue.fromNul(true)),
        without(Items.TOKEN),
        without(Items.ATTEMPTS),
        without(Items.NONCE),
        without(Items.FINGERPRINT),
        without(Items.STATE),
        without(Items.HOLDER),
        without(Items.LEASE_MILLIS),
        without(Items.LEASE_END));
  }

  private Map<String, AttributeValue> with(String name, AttributeValue value) {
    Map<String, AttributeValue> item = without(name);
    item.put(name, value);
    return item;
  }

  private Map<String, AttributeValue> without(String name) {
    Map<String, AttributeValue> item =
        new HashMap<>(encoded(new ClaimState.Held("b", LEASE, time.now().wall().plus(LEASE))));
    item.put(Items.KEY, key);
    item.remove(name);
    return item;
  }

  static List<Optional<AttributeValue>> corruptTokens() {
    return List.of(
        Optional.empty(),
        Optional.of(Items.text("7")),
        Optional.of(Items.text("")),
        Optional.of(Items.number(0)),
        Optional.of(Items.number(-1)));
  }

  /** A free record would be granted by one request, which also counts its token on. */
  @ParameterizedTest
  @MethodSource("corruptTokens")
  void freeItemWhoseTokenIsCorrupt_isAFault_neverAGrant(Optional<AttributeValue> token) {
    settled(a.store().release(a.acquire(ID), time.now().wall(), "again"));
    time.advance(Duration.ofSeconds(1));
    Map<String, AttributeValue> corrupt = new HashMap<>(item());
    corrupt.remove(Items.TOKEN);
    token.ifPresent(value -> corrupt.put(Items.TOKEN, value));
    put(corrupt);

    assertThatThrownBy(() -> a.claim(ID)).isInstanceOf(UnreadableClaimException.class);
    assertThatThrownBy(() -> a.store().find(ID)).isInstanceOf(UnreadableClaimException.class);
    assertThat(item()).isEqualTo(corrupt);
  }
}
