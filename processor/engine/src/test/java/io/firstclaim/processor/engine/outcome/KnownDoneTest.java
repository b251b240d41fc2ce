package io.firstclaim.processor.engine.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KnownDoneTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final Fingerprint PAYLOAD = Fingerprint.of(new byte[] {1});

  private final KnownDone known = new KnownDone(3, START);

  private void add(int order) {
    known.add(id(order), PAYLOAD, START.plusSeconds(order));
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
    assertThat(known.horizon()).isEqualTo(START.plusSeconds(1));
  }

  @Test
  void horizon_staysWhereItIs_whileNothingIsForgotten() {
    add(1);
    add(2);
    add(3);

    assertThat(known.horizon()).isEqualTo(START);
  }

  @Test
  void horizon_neverGoesBack_thoughAnOlderRecordIsForgotten() {
    known.add(id(1), PAYLOAD, START.minusSeconds(100));
    add(2);
    add(3);
    add(4);

    assertThat(known.horizon()).isEqualTo(START);
  }

  @Test
  void recordAnnouncedTwice_takesOnePlace() {
    add(1);
    add(1);
    add(1);
    add(2);
    add(3);

    assertThat(IntStream.rangeClosed(1, 3).allMatch(this::knows)).isTrue();
    assertThat(known.horizon()).isEqualTo(START);
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
  void start_setsTheHorizon() {
    known.startAt(START.minusSeconds(120));

    assertThat(known.horizon()).isEqualTo(START.minusSeconds(120));
  }
}
