package io.firstclaim.processor.engine.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.processor.engine.intake.Watermark.Mark;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class WatermarkTest {
  @Test
  void freshPartition_standsAtItsStart() {
    assertThat(new Watermark(17).value()).isEqualTo(17);
  }

  @Test
  void openRecord_holdsTheWatermark() {
    Watermark watermark = new Watermark(0);
    Mark first = watermark.delivered(0);
    Mark second = watermark.delivered(1);

    second.settle();
    assertThat(watermark.value()).isZero();

    first.settle();
    assertThat(watermark.value()).isEqualTo(2);
  }

  @Test
  void settledPrefix_isPassed_upToTheFirstOpenRecord() {
    Watermark watermark = new Watermark(0);
    watermark.delivered(0).settle();
    watermark.delivered(1).settle();
    Mark open = watermark.delivered(2);
    watermark.delivered(3).settle();

    assertThat(watermark.value()).isEqualTo(2);
    open.settle();
    assertThat(watermark.value()).isEqualTo(4);
  }

  @Test
  void offsetsThatWereSkipped_needNoSettling() {
    Watermark watermark = new Watermark(0);
    watermark.delivered(5).settle();
    Mark open = watermark.delivered(9);

    assertThat(watermark.value()).isEqualTo(9);
    open.settle();
    assertThat(watermark.value()).isEqualTo(10);
  }

  @Test
  void positionReachedWithoutARecord_isPassed_onceAllBeforeItIsSettled() {
    Watermark watermark = new Watermark(0);
    Mark open = watermark.delivered(0);
    watermark.reached(4);

    assertThat(watermark.value()).isZero();
    open.settle();
    assertThat(watermark.value()).isEqualTo(4);
  }

  @Test
  void positionThatWasPassed_takesNothingBack() {
    Watermark watermark = new Watermark(0);
    watermark.delivered(7).settle();

    watermark.reached(3);

    assertThat(watermark.value()).isEqualTo(8);
    assertThat(watermark.mayDeliver(7)).isFalse();
  }

  @Test
  void recordDeliveredAgain_isRefused_forItWouldBePassedUnsettled() {
    Watermark watermark = new Watermark(0);
    Mark _ = watermark.delivered(3);

    assertThat(watermark.mayDeliver(3)).isFalse();
    assertThat(watermark.mayDeliver(4)).isTrue();
    assertThatThrownBy(() -> watermark.delivered(3)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> watermark.delivered(2)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void settlingTwice_isSettlingOnce() {
    Watermark watermark = new Watermark(0);
    Mark first = watermark.delivered(0);
    Mark open = watermark.delivered(1);
    first.settle();
    first.settle();

    assertThat(watermark.value()).isEqualTo(1);
    open.settle();
    assertThat(watermark.value()).isEqualTo(2);
  }

  @Test
  void settledRecordsBelowTheWatermark_areForgotten() {
    Watermark watermark = new Watermark(0);
    for (int i = 0; i < 1000; i++) {
      watermark.delivered(i).settle();
    }
    Mark _ = watermark.delivered(1000);

    assertThat(watermark.lag()).isEqualTo(1);
    assertThat(watermark.tracked()).isEqualTo(1);
  }

  @Test
  void lag_isWhatWasDeliveredButMayNotBeCommitted() {
    Watermark watermark = new Watermark(100);
    Mark open = watermark.delivered(100);
    watermark.delivered(104).settle();

    assertThat(watermark.lag()).isEqualTo(5);
    open.settle();
    assertThat(watermark.lag()).isZero();
  }

  /** The model: a map of offsets to whether they are settled, and how far it was read. */
  @Test
  void watermark_isTheModels_inWhateverOrderRecordsAreDeliveredAndSettled() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      long start = random.nextInt(50);
      Watermark watermark = new Watermark(start);
      TreeMap<Long, Boolean> model = new TreeMap<>();
      List<Long> unsettled = new ArrayList<>();
      TreeMap<Long, Mark> marks = new TreeMap<>();
      long next = start;
      for (int step = 0; step < 200; step++) {
        switch (random.nextInt(5)) {
          case 0, 1 -> {
            long offset = next + (random.nextInt(4) == 0 ? random.nextInt(5) : 0);
            marks.put(offset, watermark.delivered(offset));
            model.put(offset, false);
            unsettled.add(offset);
            next = offset + 1;
          }
          case 2, 3 -> {
            if (!unsettled.isEmpty()) {
              long offset = unsettled.remove(random.nextInt(unsettled.size()));
              Objects.requireNonNull(marks.get(offset)).settle();
              model.put(offset, true);
            }
          }
          default -> {
            long position = next - 2 + random.nextInt(6);
            watermark.reached(position);
            next = Math.max(next, position);
          }
        }
        long expected =
            model.entrySet().stream()
                .filter(entry -> !entry.getValue())
                .mapToLong(entry -> entry.getKey())
                .min()
                .orElse(next);
        assertThat(watermark.value()).as("seed %d, step %d", seed, step).isEqualTo(expected);
        assertThat(watermark.lag()).isEqualTo(next - expected);
      }
    }
  }
}
