package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Machines whose clocks are set, suspended or frozen after the store has told them the time. */
class SteppedClockTest {
  private static final RecordId ID = RecordId.of("order-4711");
  private static final RecordId OTHER = RecordId.of("another");

  private final String namespace = "steps-" + Nonce.random();
  private final ManualTime time = ManualTime.start();
  private final ManualTime machineOfA = time.machine(Duration.ZERO);
  private final ManualTime machineOfB = time.machine(Duration.ZERO);
  private final DynamoDbClient client = LocalDynamoDb.dated(time);
  private final Claimant a = claimant("a", machineOfA);
  private final Claimant b = claimant("b", machineOfB);

  private Claimant claimant(String holder, TimeSource machine) {
    var settings = ClaimSettings.of(namespace, holder);
    return new Claimant(LocalDynamoDb.datedStore(client, settings, machine), machine);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT1H", "PT-1H", "PT1M", "PT-1M", "PT2S"})
  void clockThatIsSetAfterAnAnswer_takesNoLiveLease(Duration step) {
    assertThat(b.store().find(ID)).isEmpty();
    a.acquire(ID);
    time.advance(Duration.ofSeconds(5));
    machineOfB.setSkew(step);

    assertThat(b.claim(ID)).isInstanceOf(Held.class);
    assertThat(b.claim(ID)).isInstanceOf(Held.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT1H", "PT-1H", "PT1M", "PT-1M", "PT-2S"})
  void leaseOfAClockThatIsSetAfterAnAnswer_isRespected(Duration step) {
    assertThat(a.store().find(ID)).isEmpty();
    machineOfA.setSkew(step);

    a.acquire(ID);

    time.advance(Duration.ofSeconds(27));
    assertThat(b.claim(ID)).isInstanceOf(Held.class);
    assertThat(b.claim(ID)).isInstanceOf(Held.class);
    time.advance(Duration.ofSeconds(15));
    assertThat(b.claim(ID)).isInstanceOf(Granted.class);
  }

  @Test
  void leaseOfAMachineThatWasSuspendedBeforeItsClaim_isRespected() {
    assertThat(a.store().find(ID)).isEmpty();
    machineOfA.suspend(Duration.ofMinutes(10));

    a.acquire(ID);

    assertThat(b.claim(ID)).isInstanceOf(Held.class);
    assertThat(b.claim(ID)).isInstanceOf(Held.class);
  }

  /** Time passes between the one clock's reading and the other's, in the nth look at them. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
  void freezeBetweenTwoReadings_makesNoLeaseShorter_andTakesNone(int frozen) {
    var looks = new int[1];
    TimeSource freezing =
        () -> {
          Moment before = machineOfA.now();
          if (++looks[0] == frozen) {
            time.advance(Duration.ofSeconds(44));
            return new Moment(machineOfA.now().wall(), before.ticks());
          }
          return before;
        };
    Claimant c = claimant("c", freezing);
    b.acquire(ID);
    c.store().find(OTHER);
    c.store().find(OTHER);
    if (c.claim(ID) instanceof Granted) {
      assertThat(time.elapsed()).isGreaterThan(Duration.ofSeconds(30));
    }
    Lease lease = c.acquire(OTHER);
    if (!lease.isOver(machineOfA.now())) {
      assertThat(b.claim(OTHER)).isInstanceOf(Held.class);
      assertThat(b.claim(OTHER)).isInstanceOf(Held.class);
    }
  }
}
