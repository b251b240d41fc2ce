package io.firstclaim.processor.service.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.api.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SearchFilterTest {
  private static final Instant AT = Instant.parse("2026-03-01T12:00:00Z");

  /** Dead, in zone a, at noon, because of a 422. */
  private static final Outcome GIVEN =
      new Outcome(
          "order-17",
          Outcome.Kind.DEAD,
          "a",
          "a1",
          1,
          1,
          "orders",
          0,
          0,
          AT,
          Duration.ofMillis(5),
          "http: 422",
          null,
          List.of());

  private static SearchFilter filter(
      @Nullable String zone,
      @Nullable String outcome,
      @Nullable String cause,
      @Nullable String since,
      @Nullable String until) {
    return new SearchFilter(null, zone, outcome, cause, since, until);
  }

  private static boolean takes(SearchFilter filter) {
    return filter.takes(GIVEN);
  }

  @Test
  void nothingGiven_takesAll() {
    assertThat(takes(filter(null, null, null, null, null))).isTrue();
  }

  @Test
  void zone_isThatWhichPublishedIt() {
    assertThat(takes(filter("a", null, null, null, null))).isTrue();
    assertThat(takes(filter("b", null, null, null, null))).isFalse();
  }

  @Test
  void outcome_isTakenInCapitalsOrNot() {
    assertThat(takes(filter(null, "dead", null, null, null))).isTrue();
    assertThat(takes(filter(null, "COMPLETED", null, null, null))).isFalse();
  }

  @Test
  void cause_isAPartOfIt() {
    assertThat(takes(filter(null, null, "422", null, null))).isTrue();
    assertThat(takes(filter(null, null, "500", null, null))).isFalse();
  }

  @Test
  void since_includesItsMoment_until_doesNot() {
    assertThat(takes(filter(null, null, null, AT.toString(), null))).isTrue();
    assertThat(takes(filter(null, null, null, AT.plusMillis(1).toString(), null))).isFalse();
    assertThat(takes(filter(null, null, null, null, AT.plusMillis(1).toString()))).isTrue();
    assertThat(takes(filter(null, null, null, null, AT.toString()))).isFalse();
  }

  @Test
  void allThatIsGiven_hasToHold() {
    String later = AT.plusSeconds(1).toString();
    assertThat(takes(filter("a", "dead", "422", AT.toString(), later))).isTrue();
    assertThat(takes(filter("b", "dead", "422", AT.toString(), later))).isFalse();
  }

  @Test
  void query_carriesAllThatIsGiven_toTheOtherInstances() {
    assertThat(new SearchFilter("o&1", "a", "dead", "4 2", AT.toString(), null).query())
        .isEqualTo("cause=4+2&outcome=dead&prefix=o%261&since=2026-03-01T12%3A00%3A00Z&zone=a");
  }
}
