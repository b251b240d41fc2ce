package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.protocol.ClaimState;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

class StoreClockTest {
  private static final Duration MAX_SKEW = Duration.ofSeconds(1);
  private static final Duration TRIP = Duration.ofMillis(10);
  private static final RecordId ID = RecordId.of("order-4711");

  private final ManualTime store = ManualTime.start();
  private final List<Duration> heard = new ArrayList<>();
  private final StoreListener listener =
      new StoreListener() {
        @Override
        public void called(String op, String result, Duration took) {}

        @Override
        public void clockSkew(Duration skew) {
          heard.add(skew);
        }
      };

  /** The header that the store would send now. */
  private static String date(ManualTime store) {
    return DateTimeFormatter.RFC_1123_DATE_TIME.format(
        store.now().wall().truncatedTo(ChronoUnit.SECONDS).atOffset(ZoneOffset.UTC));
  }

  private StoreClock clock(ManualTime machine) {
    return new StoreClock(machine, MAX_SKEW, listener);
  }

  /** A request and its answer, whose two ways take equally long. */
  private void exchange(StoreClock clock) {
    store.advance(TRIP.dividedBy(2));
    String date = date(store);
    store.advance(TRIP.dividedBy(2));
    clock.observe(date, TRIP);
  }

  private Duration error(StoreClock clock) {
    return Duration.between(store.now().wall(), clock.now().wall());
  }

  private void assertErrorAtMost(StoreClock clock, int millis) {
    assertThat(error(clock)).isBetween(Duration.ofMillis(-millis), Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(longs = {3_600_000, -3_600_000, 30_000, -30_000, 5_000, -5_000, 2_000, -2_000})
  void clockBeyondTheBound_isCorrectedToHalfASecond_byOneAnswer(long skewMillis) {
    StoreClock clock = clock(store.machine(Duration.ofMillis(skewMillis)));
    for (int phase = 0; phase < 10; phase++) {
      exchange(clock);
      assertErrorAtMost(clock, 505);
      store.advance(Duration.ofMillis(1_107));
    }
  }

  @Test
  void correction_growsBetterWithEveryAnswer() {
    StoreClock clock = clock(store.machine(Duration.ofHours(1)));
    for (int i = 0; i < 60; i++) {
      exchange(clock);
      store.advance(Duration.ofMillis(1_037));
    }

    assertErrorAtMost(clock, 60);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 400, -400, 500, -500})
  void clockWithinHalfTheBound_isLeftAlone(long skewMillis) {
    StoreClock clock = clock(store.machine(Duration.ofMillis(skewMillis)));
    for (int i = 0; i < 60; i++) {
      exchange(clock);
      assertThat(error(clock)).isEqualTo(Duration.ofMillis(skewMillis));
      store.advance(Duration.ofMillis(1_037));
    }
  }

  /** One second of resolution proves it now and does not then; what is proven stays proven. */
  @ParameterizedTest
  @ValueSource(longs = {700, -700, 1_400, -1_400})
  void clockJustBeyondTheBound_isCorrectedOnce_andStaysSo(long skewMillis) {
    StoreClock clock = clock(store.machine(Duration.ofMillis(skewMillis)));
    int changes = 0;
    boolean corrected = false;
    for (int i = 0; i < 60; i++) {
      exchange(clock);
      boolean now = !error(clock).equals(Duration.ofMillis(skewMillis));
      changes += now == corrected ? 0 : 1;
      corrected = now;
      store.advance(Duration.ofMillis(1_037));
    }

    assertThat(corrected).isTrue();
    assertThat(changes).isEqualTo(1);
  }

  @Test
  void clockThatIsSetRight_isNoLongerCorrected() {
    ManualTime machine = store.machine(Duration.ofHours(1));
    StoreClock clock = clock(machine);
    exchange(clock);
    store.advance(Duration.ofSeconds(2));

    machine.setSkew(Duration.ZERO);
    exchange(clock);

    assertThat(error(clock)).isZero();
    assertThat(heard.getLast()).isZero();
  }

  @Test
  void clockThatDrifts_isFollowed() {
    ManualTime machine = store.machine(Duration.ofSeconds(10));
    StoreClock clock = clock(machine);
    for (int second = 0; second < 600; second++) {
      machine.setSkew(Duration.ofSeconds(10).plusNanos(second * 200_000L)); // 200 ppm
      exchange(clock);
      assertErrorAtMost(clock, second < 100 ? 520 : 100);
      store.advance(Duration.ofMillis(1_037));
    }
  }

  @Test
  void slowAnswer_provesLess() {
    StoreClock clock = clock(store.machine(Duration.ofSeconds(3).negated()));
    String date = date(store);
    store.advance(Duration.ofSeconds(5));

    clock.observe(date, Duration.ofSeconds(5));

    assertThat(heard).as("it may all be the answer's delay").containsExactly(Duration.ZERO);
    assertThat(error(clock)).isEqualTo(Duration.ofSeconds(-3));
  }

  @Test
  void listener_hearsWhatIsProven_negativeWhereTheStoreIsBehind() {
    exchange(clock(store.machine(Duration.ofHours(1))));
    exchange(clock(store.machine(Duration.ofHours(-1))));

    assertThat(heard.getFirst())
        .isBetween(Duration.ofHours(-1), Duration.ofHours(-1).plusMillis(1_010));
    assertThat(heard.getLast())
        .isBetween(Duration.ofHours(1).minusMillis(1_010), Duration.ofHours(1));
  }

  @Test
  void answersAreSampled_onceASecond() {
    StoreClock clock = clock(store.machine(Duration.ZERO));
    for (int i = 0; i < 100; i++) {
      exchange(clock); // 10 ms each
    }
    assertThat(heard).hasSize(1);
    exchange(clock);
    assertThat(heard).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "yesterday", "2100-01-01T00:00:00Z", "Fri, 99 Jan 2100 00:00:00 GMT"})
  void dateThatCannotBeRead_isIgnored(String date) {
    StoreClock clock = clock(store.machine(Duration.ofHours(1)));

    clock.observe(date, TRIP);

    assertThat(error(clock)).isEqualTo(Duration.ofHours(1));
    exchange(clock);
    assertThat(error(clock)).isLessThan(Duration.ofSeconds(1));
  }

  @Test
  void now_isInWholeMilliseconds_andKeepsTheMonotonicClock() {
    ManualTime machine = store.machine(Duration.ofHours(1));
    StoreClock clock = clock(machine);
    exchange(clock);
    store.advance(Duration.ofNanos(1_234_567));

    Instant now = clock.now().wall();
    assertThat(now).isEqualTo(now.truncatedTo(ChronoUnit.MILLIS));
    assertThat(clock.now().ticks()).isEqualTo(machine.now().ticks());
  }

  // In the store

  /** Answers dated by the test's own time. */
  private static final class Dated implements ExecutionInterceptor {
    private final ManualTime store;

    Dated(ManualTime store) {
      this.store = store;
    }

    @Override
    public SdkHttpResponse modifyHttpResponse(
        Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
      return context.httpResponse().copy(response -> response.putHeader("Date", date(store)));
    }
  }

  private Claimant claimant(DynamoDbClient client, String namespace, String holder, Duration skew) {
    var settings =
        new ClaimSettings(namespace, holder, Duration.ofSeconds(30), MAX_SKEW, Duration.ofDays(8));
    ManualTime machine = store.machine(skew);
    return new Claimant(LocalDynamoDb.store(client, settings, machine), machine);
  }

  @Test
  void holderAnHourAhead_ofADatingStore_isTakenOverInTime_andOneBehindIsNotTooEarly() {
    String namespace = "clock-" + Nonce.random();
    try (DynamoDbClient client =
        LocalDynamoDb.intercepted(LocalDynamoDb.builder(LocalDynamoDb.endpoint()), new Dated(store))
            .build()) {
      Claimant right = claimant(client, namespace, "right", Duration.ZERO);
      for (Duration skew : List.of(Duration.ofHours(1), Duration.ofHours(-1))) {
        RecordId id = RecordId.of("held by one off by " + skew);
        Claimant wrong = claimant(client, namespace, "wrong", skew);
        wrong.store().find(id); // the first answer tells it the time
        wrong.acquire(id);

        store.advance(Duration.ofSeconds(30));
        assertThat(right.claim(id)).as("%s", skew).isInstanceOf(Held.class);
        store.advance(Duration.ofSeconds(2));
        assertThat(right.claim(id)).as("%s", skew).isInstanceOf(Granted.class);
      }
    }
  }

  @Test
  void refusedClaim_tellsTheTimeToo() {
    String namespace = "clock-" + Nonce.random();
    try (DynamoDbClient client =
        LocalDynamoDb.intercepted(LocalDynamoDb.builder(LocalDynamoDb.endpoint()), new Dated(store))
            .build()) {
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
    try (DynamoDbClient client = LocalDynamoDb.builder(LocalDynamoDb.endpoint()).build()) {
      var claimants = LocalDynamoDb.store(client, settings, store); // it lives in 2100
      claimants.find(ID);

      new Claimant(claimants, store).acquire(ID);

      ClaimState.Held held = (ClaimState.Held) claimants.find(ID).orElseThrow().state();
      assertThat(held.end()).isBefore(Instant.parse("2090-01-01T00:00:00Z"));
    }
  }
}
