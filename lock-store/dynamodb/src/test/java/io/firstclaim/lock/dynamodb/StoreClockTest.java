package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The store's clock, as the dates of its answers show it. */
class StoreClockTest {
  private static final Duration MAX_SKEW = Duration.ofSeconds(1);
  private static final RecordId ID = RecordId.of("order-4711");

  private final ManualTime store = ManualTime.start();

  private Claimant claimant(DynamoDbClient client, String namespace, String holder, Duration skew) {
    var settings =
        new ClaimSettings(namespace, holder, Duration.ofSeconds(30), MAX_SKEW, Duration.ofDays(8));
    ManualTime machine = store.machine(skew);
    return new Claimant(LocalDynamoDb.datedStore(client, settings, machine), machine);
  }

  @Test
  void holderAnHourAhead_ofADatingStore_isTakenOverInTime_andOneBehindIsNotTooEarly() {
    String namespace = "clock-" + Nonce.random();
    try (DynamoDbClient client = LocalDynamoDb.dated(store)) {
      Claimant right = claimant(client, namespace, "right", Duration.ZERO);
      for (Duration skew : List.of(Duration.ofHours(1), Duration.ofHours(-1))) {
        RecordId id = RecordId.of("held by one off by " + skew);
        Claimant wrong = claimant(client, namespace, "wrong", skew);
        wrong.store().find(id); // the first answer tells it the time
        wrong.acquire(id);

        store.advance(Duration.ofSeconds(30));
        assertThat(right.claim(id)).as("%s", skew).isInstanceOf(Held.class);
        store.advance(Duration.ofSeconds(4));
        assertThat(right.claim(id)).as("%s", skew).isInstanceOf(Granted.class);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT1H", "PT0S", "PT-1H"})
  void leaseIsSaidToBeOver_onceItMayBeTakenOver_whateverTheAskersClockSays(Duration skew) {
    String namespace = "clock-" + Nonce.random();
    try (DynamoDbClient client = LocalDynamoDb.dated(store)) {
      claimant(client, namespace, "holder", Duration.ZERO).acquire(ID);
      Claimant asker = claimant(client, namespace, "asker", skew);
      store.advance(Duration.ofSeconds(30));
      assertThat(isOver(asker)).isFalse();

      store.advance(Duration.ofSeconds(4));

      assertThat(isOver(asker)).isTrue();
      assertThat(asker.claim(ID)).isInstanceOf(Granted.class);
    }
  }

  private static boolean isOver(Claimant asker) {
    ClaimState found = asker.store().find(ID).orElseThrow().state();
    return ((DrivenClaimStore) asker.store()).isOver((ClaimState.Held) found);
  }

  @Test
  void refusedClaim_tellsTheTimeToo() {
    String namespace = "clock-" + Nonce.random();
    try (DynamoDbClient client = LocalDynamoDb.dated(store)) {
      claimant(client, namespace, "right", Duration.ZERO).acquire(ID);
      Claimant behind = claimant(client, namespace, "behind", Duration.ofHours(-1));
      behind.heldOff(ID);

      behind.acquire(RecordId.of("another"));

      assertThat(behind.store().find(RecordId.of("another")))
          .get()
          .extracting(record -> (ClaimState.Held) record.state())
          .satisfies(
              held ->
                  assertThat(held.end())
                      .isCloseTo(
                          store.now().wall().plusSeconds(30), within(1, ChronoUnit.SECONDS)));
    }
  }

  @Test
  void answersOfDynamoDb_areDated() {
    var settings = ClaimSettings.of("clock-" + Nonce.random(), "a");
    try (DynamoDbClient client =
        LocalDynamoDb.unhurried(LocalDynamoDb.builder(LocalDynamoDb.endpoint())).build()) {
      var claimants = LocalDynamoDb.datedStore(client, settings, store); // it lives in 2100
      claimants.find(ID);

      new Claimant(claimants, store).acquire(ID);

      ClaimState.Held held = (ClaimState.Held) claimants.find(ID).orElseThrow().state();
      assertThat(held.end()).isBefore(Instant.parse("2090-01-01T00:00:00Z"));
    }
  }
}
