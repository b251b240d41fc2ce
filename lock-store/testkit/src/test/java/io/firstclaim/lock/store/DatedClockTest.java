package io.firstclaim.lock.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DatedClockTest {
  private static final Duration LASTING = Duration.ofSeconds(30);
  private static final Duration TRIP = Duration.ofMillis(10);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualTime store = ManualTime.start();
  private final ManualTime machine = store.machine(Duration.ZERO);
  private final List<Duration> heard = new ArrayList<>();
  private final DatedClock clock = clock(machine);

  private DatedClock clock(ManualTime of) {
    var listener =
        new StoreListener() {
          @Override
          public void called(StoreOperation op, StoreOperation.Result result, Duration took) {}

          @Override
          public void clockSkew(Duration skew) {
            heard.add(skew);
          }
        };
    return new DatedClock(of, LASTING, listener);
  }

  /** The header that the store would send now. */
  private String date() {
    return DateTimeFormatter.RFC_1123_DATE_TIME.format(
        store.right().truncatedTo(ChronoUnit.SECONDS).atOffset(ZoneOffset.UTC));
  }

  /** A request and its answer, whose two ways take equally long. */
  private void exchange(DatedClock with, ManualTime of) {
    var sent = of.now();
    store.advance(TRIP.dividedBy(2));
    String date = date();
    store.advance(TRIP.dividedBy(2));
    with.observe(date, sent, of.now());
  }

  private Duration width() {
    StoreMoment now = clock.now();
    return Duration.between(now.early(), now.late());
  }

  private static void assertRight(DatedClock with, ManualTime store) {
    StoreMoment now = with.now();
    assertThat(now.isKnown()).isTrue();
    assertThat(store.right().truncatedTo(ChronoUnit.MILLIS)).isBetween(now.early(), now.late());
  }

  @Test
  void beforeTheFirstAnswer_nothingIsOver() {
    assertThat(clock.now().isKnown()).isFalse();
    assertThat(clock.now().early()).isBefore(store.right().minus(Duration.ofDays(36_500)));
    assertThat(clock.now().late()).isAfter(store.right().plus(Duration.ofDays(36_500)));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 3_600_000, -3_600_000, 30_000, -30_000, 700, -700})
  void oneAnswer_tellsTheTimeToASecondAndItsWay_whateverTheWallClockSays(long skewMillis) {
    ManualTime wrong = store.machine(Duration.ofMillis(skewMillis));
    DatedClock any = clock(wrong);
    for (int phase = 0; phase < 10; phase++) {
      exchange(any, wrong);
      assertRight(any, store);
      StoreMoment now = any.now();
      assertThat(Duration.between(now.early(), now.late())).isLessThan(Duration.ofMillis(1_050));
      store.advance(Duration.ofMillis(1_107));
    }
  }

  @Test
  void answersAroundTheTurnOfASecond_tellItMuchBetter() {
    for (int i = 0; i < 300; i++) {
      exchange(clock, machine);
      assertRight(clock, store);
    }
    assertThat(width()).isLessThan(Duration.ofMillis(350));
  }

  /** Each step of the ticks is as wrong as a slewing daemon may make it. */
  @ParameterizedTest
  @ValueSource(ints = {83_000, -83_000, 0})
  void slewedTicks_stayWithinTheBounds(int ppm) {
    machine.slew(ppm);
    for (int i = 0; i < 300; i++) {
      exchange(clock, machine);
      for (int wait = 0; wait < i % 20; wait++) {
        store.advance(Duration.ofMillis(1_037));
        assertRight(clock, store);
      }
    }
  }

  @Test
  void boundsGrowWiderWithAge_andTheTimeIsForgottenInTheEnd() {
    exchange(clock, machine);
    Duration fresh = width();
    store.advance(LASTING);

    assertRight(clock, store);
    assertThat(width().minus(fresh)).isBetween(LASTING.dividedBy(7), LASTING.dividedBy(5));

    store.advance(Duration.ofNanos(1));
    assertThat(clock.now().isKnown()).isFalse();
    exchange(clock, machine);
    assertRight(clock, store);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT1H", "PT-1H", "PT1S", "PT-1S"})
  void wallClockThatIsSet_makesItForgetTheTime_untilTheNextAnswer(Duration step) {
    exchange(clock, machine);
    machine.setSkew(step);

    assertThat(clock.now().isKnown()).isFalse();

    exchange(clock, machine);
    assertRight(clock, store);
  }

  @Test
  void suspendedMachine_forgetsTheTime_untilTheNextAnswer() {
    exchange(clock, machine);
    machine.suspend(Duration.ofMinutes(10));

    assertThat(clock.now().isKnown()).isFalse();

    exchange(clock, machine);
    assertRight(clock, store);
  }

  @Test
  void answerThatASuspendCameBetween_provesNothing() {
    var sent = machine.now();
    String date = date();
    machine.suspend(Duration.ofMinutes(10));

    clock.observe(date, sent, machine.now());

    assertThat(clock.now().isKnown()).isFalse();
  }

  /** A virtual machine was paused: neither of its clocks has noticed. */
  @Test
  void answerThatContradictsTheOnesBefore_beginsAnew() {
    exchange(clock, machine);
    machine.setSkew(Duration.ofMinutes(-10));
    machine.suspend(Duration.ofMinutes(10));

    exchange(clock, machine);

    assertRight(clock, store);
  }

  @Test
  void slowAnswer_provesLess() {
    var sent = machine.now();
    String date = date();
    store.advance(Duration.ofSeconds(5));

    clock.observe(date, sent, machine.now());

    assertRight(clock, store);
    assertThat(width()).isGreaterThan(Duration.ofSeconds(6));
  }

  @Test
  void answersThatComeOutOfOrder_areTakenInAllTheSame() {
    var sent = machine.now();
    String old = date();
    store.advance(Duration.ofMillis(20));
    var received = machine.now();
    store.advance(Duration.ofMillis(20));
    exchange(clock, machine);

    clock.observe(old, sent, received);

    assertRight(clock, store);
  }

  @Test
  void listener_hearsOnceASecond_whatIsProven_negativeWhereTheStoreIsBehind() {
    ManualTime ahead = store.machine(Duration.ofHours(1));
    DatedClock ofAhead = clock(ahead);
    exchange(ofAhead, ahead);
    exchange(ofAhead, ahead);
    ManualTime behind = store.machine(Duration.ofHours(-1));
    exchange(clock(behind), behind);

    assertThat(heard).hasSize(2);
    assertThat(heard.getFirst())
        .isBetween(Duration.ofHours(-1), Duration.ofHours(-1).plus(SECOND).plus(TRIP));
    assertThat(heard.getLast()).isBetween(Duration.ofHours(1).minus(SECOND), Duration.ofHours(1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "yesterday", "2100-01-01T00:00:00Z", "Fri, 99 Jan 2100 00:00:00 GMT"})
  void dateThatCannotBeRead_isIgnored(String date) {
    clock.observe(date, machine.now(), machine.now());

    assertThat(clock.now().isKnown()).isFalse();
    exchange(clock, machine);
    assertRight(clock, store);
  }

  @Test
  void bounds_areInWholeMilliseconds_roundedOutwards() {
    exchange(clock, machine);
    store.advance(Duration.ofNanos(1_234_567));

    StoreMoment now = clock.now();
    assertThat(now.early()).isEqualTo(now.early().truncatedTo(ChronoUnit.MILLIS));
    assertThat(now.late()).isEqualTo(now.late().truncatedTo(ChronoUnit.MILLIS));
    assertThat(now.machine()).isEqualTo(machine.now());
    assertRight(clock, store);
  }
}
