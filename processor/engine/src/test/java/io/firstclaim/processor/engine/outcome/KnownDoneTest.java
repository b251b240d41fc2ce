package io.firstclaim.processor.engine.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KnownDoneTest {
  private static final Duration RETENTION = Duration.ofDays(8);
  private static final Fingerprint PAYLOAD = Fingerprint.of(new byte[] {1});

  private final TestTime time = TestTime.standing();
  private final Instant start = time.now().wall();
  private final KnownDone known = new KnownDone(3, 1 << 20, RETENTION, time);

  private void add(int order) {
    known.add(id(order), PAYLOAD, 1, start.plusSeconds(order));
  }

  private static RecordId id(int order) {
    return RecordId.of("order-" + order);
  }

  private boolean knows(int order) {
    return known.contains(id(order), PAYLOAD);
  }

  @Test
  void announcedRecord_isKnown_withItsPayloadOnly() {
    add(1);

    assertThat(knows(1)).isTrue();
    assertThat(knows(2)).isFalse();
    assertThat(known.contains(id(1), Fingerprint.of(new byte[] {2}))).isFalse();
  }

  @Test
  void beyondTheCapacity_theOldestIsForgotten_andTheHorizonSaysSo() {
    for (int order = 1; order <= 4; order++) {
      add(order);
    }

    assertThat(IntStream.rangeClosed(1, 4).filter(this::knows)).containsExactly(2, 3, 4);
    assertThat(known.horizon()).isEqualTo(start.plusSeconds(1));
  }

  @Test
  void horizon_staysWhereItIs_whileNothingIsForgotten() {
    add(1);
    add(2);
    add(3);

    assertThat(known.horizon()).isEqualTo(start);
  }

  @Test
  void horizon_neverGoesBack_thoughAnOlderRecordIsForgotten() {
    known.add(id(1), PAYLOAD, 1, start.minusSeconds(100));
    add(2);
    add(3);
    add(4);

    assertThat(known.horizon()).isEqualTo(start);
  }

  @Test
  void recordAnnouncedTwice_takesOnePlace() {
    add(1);
    add(1);
    add(1);
    add(2);
    add(3);

    assertThat(IntStream.rangeClosed(1, 3).allMatch(this::knows)).isTrue();
    assertThat(known.horizon()).isEqualTo(start);
  }

  @Test
  void forgottenRecord_canBeLearntAgain() {
    for (int order = 1; order <= 4; order++) {
      add(order);
    }
    add(1);

    assertThat(knows(1)).isTrue();
    assertThat(knows(2)).isFalse();
  }

  @Test
  void record_isForgotten_whenItsClaimIs() {
    known.add(id(1), PAYLOAD, 1, start.minus(RETENTION).plusSeconds(60));
    known.add(id(2), PAYLOAD, 1, start);

    time.advance(Duration.ofSeconds(60));

    assertThat(knows(1)).isFalse();
    assertThat(knows(2)).isTrue();
    assertThat(known.add(id(1), PAYLOAD, 1, time.now().wall())).isTrue();
    assertThat(knows(1)).isTrue();
  }

  @Test
  void recordThatEndedBeforeTheRetention_isNotRemembered() {
    assertThat(known.add(id(1), PAYLOAD, 1, start.minus(RETENTION))).isTrue();

    assertThat(knows(1)).isFalse();
  }

  @Test
  void recordFromAClockThatIsAhead_isForgottenAfterTheRetention_asHereItCounts() {
    known.add(id(1), PAYLOAD, 1, start.plus(RETENTION.multipliedBy(1000)));

    time.setWall(Duration.ofDays(-3));
    time.advance(RETENTION.minusMillis(1));
    assertThat(knows(1)).isTrue();

    time.advance(Duration.ofMillis(1));
    assertThat(knows(1)).isFalse();
  }

  @Test
  void start_setsTheHorizon() {
    known.startAt(start.minusSeconds(120));

    assertThat(known.horizon()).isEqualTo(start.minusSeconds(120));
  }

  @Test
  void recordThatLives_isForgotten_andNoEndOfBeforeCountsAnyMore() {
    assertThat(known.add(id(1), PAYLOAD, 4, start)).isTrue();

    known.lives(id(1), PAYLOAD, 6);

    assertThat(knows(1)).isFalse();
    assertThat(known.add(id(1), PAYLOAD, 4, start)).isFalse();
    assertThat(knows(1)).isFalse();
    assertThat(known.add(id(1), PAYLOAD, 6, start)).isTrue();
    assertThat(knows(1)).isTrue();
    known.lives(id(1), PAYLOAD, 6);
    assertThat(knows(1)).as("the word of its life came late").isTrue();
  }

  @Test
  void laterEnd_takesThePlaceOfAnEarlierOne() {
    assertThat(known.add(id(1), PAYLOAD, 4, start)).isTrue();
    assertThat(known.contains(id(1), PAYLOAD, 5)).isFalse();

    assertThat(known.add(id(1), PAYLOAD, 6, start)).isTrue();

    assertThat(known.contains(id(1), PAYLOAD, 6)).isTrue();
    assertThat(known.add(id(1), PAYLOAD, 6, start)).isFalse();
    assertThat(known.add(id(1), PAYLOAD, 4, start)).isFalse();
  }

  @Test
  void longIds_countByTheirBytes_theOldestAreForgotten() {
    KnownDone small = new KnownDone(1000, 10_000, RETENTION, time);
    List<RecordId> ids =
        IntStream.range(0, 100).mapToObj(i -> RecordId.of("x".repeat(1000) + i)).toList();
    for (int i = 0; i < ids.size(); i++) {
      small.add(ids.get(i), PAYLOAD, 1, start.plusSeconds(i));
    }

    List<RecordId> known = ids.stream().filter(id -> small.contains(id, PAYLOAD)).toList();
    assertThat(known).isEqualTo(ids.subList(93, 100)); // of about 1,258 bytes each
    assertThat(small.horizon()).isEqualTo(start.plusSeconds(92));
  }
}
