package io.firstclaim.processor.service.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.processor.audit.api.Latencies;
import io.firstclaim.processor.audit.api.Minute;
import io.firstclaim.processor.service.admin.Overview.Breach;
import io.firstclaim.processor.service.admin.Overview.Count;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OverviewTest {
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");

  private static ZoneMinute minute(String zone, Instant start, long completed, Duration took) {
    return ZoneMinute.of(
        new Minute(zone, start, completed, 1, 0, 0, 0, 0, Latencies.none().plus(took)));
  }

  private static Overview of(List<ZoneMinute> minutes, Count dead) {
    return new Overview(
        minutes, dead, new Count(0, true), new Count(3, true), 1L, List.of(), List.of());
  }

  @Test
  void minutesOfOneZone_areAddedUp_withTheirLatencies_andOthersStandBesideThem() {
    Instant later = NOON.plusSeconds(60);
    Overview one =
        of(
            List.of(
                minute("a", NOON, 3, Duration.ofMillis(10)),
                minute("a", later, 5, Duration.ofMillis(10))),
            new Count(2, true));
    Overview two =
        of(
            List.of(
                minute("a", NOON, 4, Duration.ofMillis(900)),
                minute("b", NOON, 7, Duration.ofMillis(1))),
            new Count(1000, false));

    Overview both = one.plus(two);

    assertThat(both.minutes())
        .extracting(ZoneMinute::start, ZoneMinute::zone, ZoneMinute::completed)
        .containsExactly(
            tuple(NOON.toString(), "a", 7L),
            tuple(NOON.toString(), "b", 7L),
            tuple(later.toString(), "a", 5L));
    assertThat(both.minutes().getFirst().takeovers()).isEqualTo(2);
    assertThat(both.minutes().getFirst().p50Millis()).isEqualTo(10);
    assertThat(both.minutes().getFirst().p99Millis()).isBetween(890L, 910L);
    assertThat(both.dead()).isEqualTo(new Count(1002, false));
    assertThat(both.violations().count()).isEqualTo(6);
    assertThat(both.acknowledged()).isEqualTo(2);
  }

  @Test
  void whoIsDead_andWhatIsAcknowledged_isNotKnown_untilEachInstanceHasReadTheActs()
      throws IOException {
    Overview read = of(List.of(), new Count(2, true));
    Overview unread = read.withoutActs("what operators have done, at a/one: not read yet");
    ObjectMapper json = new ObjectMapper();
    Overview said = json.readValue(json.writeValueAsString(unread), Overview.class);

    assertThat(said).isEqualTo(unread);
    for (Overview all : List.of(unread, read.plus(said), unread.plus(read))) {
      Overview shown = all.without("another").shown();
      assertThat(shown.dead()).isNull();
      assertThat(shown.acknowledged()).isNull();
      assertThat(shown.missing())
          .containsExactly("what operators have done, at a/one: not read yet", "another");
    }
    assertThat(read.plus(said).violations()).isEqualTo(new Count(6, true));
  }

  @Test
  void whatPeopleSee_hasNoLatenciesInBytes_andIsNotAddedUp() {
    Overview shown =
        of(List.of(minute("a", NOON, 3, Duration.ofMillis(10))), new Count(0, true)).shown();

    assertThat(shown.minutes().getFirst().latencies()).isNull();
    assertThat(shown.minutes().getFirst().p99Millis()).isEqualTo(10);
    assertThatThrownBy(() -> shown.plus(shown)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void overview_isWhatAnotherInstanceSaid_afterItsWayThroughJson() throws IOException {
    ObjectMapper json = new ObjectMapper();
    Overview said =
        of(List.of(minute("a", NOON, 3, Duration.ofMillis(10))), new Count(1000, false));

    String text = json.writeValueAsString(said);

    assertThat(text).contains("\"dead\":{\"count\":1000,\"isAll\":false}");
    assertThat(json.readValue(text, Overview.class)).isEqualTo(said);
  }

  @Test
  void breaches_areTheLatest_theOpenOnesFirst_andNotMoreThanOneReads() {
    List<Breach> found =
        IntStream.range(0, 30)
            .mapToObj(
                i ->
                    new Breach(
                        "id" + i,
                        "COMPLETED_TWICE",
                        NOON.plusSeconds(i).toString(),
                        "a",
                        "one",
                        2,
                        1,
                        i >= 15 ? "otto: seen" : null))
            .toList();

    assertThat(Overview.latest(found.stream()))
        .hasSize(20)
        .extracting(Breach::id)
        .startsWith("id14", "id13")
        .endsWith("id29", "id28", "id27", "id26", "id25");
  }
}
