package io.firstclaim.processor.engine.admission;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class AffinityTest {
  private static final Duration HEAD_START = Duration.ofMillis(100);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int RECORDS = 30_000;

  private final TestTime time = TestTime.standing();
  private final Map<String, Instant> signs = new HashMap<>();

  private Affinity in(String zone, String... zones) {
    return new Affinity(zone, List.of(zones), Optional.of(HEAD_START), PATIENCE, signs::get, time);
  }

  private static boolean prefers(Affinity zone, String id) {
    return zone.headStartOfOthers(id.getBytes(UTF_8)).isZero();
  }

  private static final Random RANDOM = new Random(42);

  static Stream<Arguments> shapes() {
    IntFunction<String> numbers = Integer::toString;
    IntFunction<String> padded = i -> "order-%012d".formatted(i);
    IntFunction<String> step = i -> "order-" + 1000L * i;
    IntFunction<String> even = i -> "%08x".formatted(2 * i);
    IntFunction<String> uuids = _ -> new UUID(RANDOM.nextLong(), RANDOM.nextLong()).toString();
    IntFunction<String> offsets = i -> "orders-" + i % 6 + "-" + i / 6;
    return Stream.of(
        Arguments.of(Named.of("numbers", numbers)),
        Arguments.of(Named.of("padded numbers", padded)),
        Arguments.of(Named.of("a constant step", step)),
        Arguments.of(Named.of("even hex", even)),
        Arguments.of(Named.of("UUIDs", uuids)),
        Arguments.of(Named.of("partitions and offsets", offsets)));
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void everyZone_isPreferredByItsFairShare(IntFunction<String> shape) {
    List<String> ids = IntStream.range(0, RECORDS).mapToObj(shape).toList();
    for (int zones = 2; zones <= 5; zones++) {
      String[] names = IntStream.range(0, zones).mapToObj(i -> "zone-" + i).toArray(String[]::new);
      for (String name : names) {
        Affinity zone = in(name, names);
        long share = ids.stream().filter(id -> prefers(zone, id)).count();
        assertThat(share).isBetween(RECORDS * 9L / 10 / zones, RECORDS * 11L / 10 / zones);
      }
    }
  }

  @Test
  void recordsOfOnePartition_preferEachZoneAlike_whenTheKeyIsTheId() {
    Affinity a = in("a", "a", "b");
    for (int partitions : new int[] {2, 6, 8, 12}) {
      int[] of = new int[partitions];
      int[] preferringA = new int[partitions];
      for (int i = 0; i < RECORDS; i++) {
        String id = "order-" + i;
        int partition = Utils.toPositive(Utils.murmur2(id.getBytes(UTF_8))) % partitions;
        of[partition]++;
        if (prefers(a, id)) {
          preferringA[partition]++;
        }
      }
      for (int p = 0; p < partitions; p++) {
        assertThat(preferringA[p]).isBetween(of[p] * 2 / 5, of[p] * 3 / 5);
      }
    }
  }

  @Test
  void zonesAgree_whoeverIsAsked_andInWhateverOrderTheyAreListed() {
    List<Affinity> zones =
        List.of(in("a", "a", "b", "c"), in("b", "b", "c", "a"), in("c", "b", "a", "c"));
    for (int i = 0; i < 1000; i++) {
      String id = "order-" + i;
      assertThat(zones.stream().filter(zone -> prefers(zone, id)).count()).isOne();
    }
  }

  @Test
  void othersGiveAHeadStart() {
    Affinity a = in("a", "a", "b");
    Affinity b = in("b", "a", "b");
    byte[] id = "order-1".getBytes(UTF_8);

    assertThat(List.of(a.headStartOfOthers(id), b.headStartOfOthers(id)))
        .containsExactlyInAnyOrder(Duration.ZERO, HEAD_START);
  }

  @Test
  void withoutZones_nobodyHasAHeadStart() {
    Affinity only = in("a");

    assertThat(IntStream.range(0, 100).allMatch(i -> prefers(only, "order-" + i))).isTrue();
  }

  @Test
  void zoneThatGaveNoSignOfLife_isNotWaitedFor() {
    Affinity a = in("a", "a", "b");
    String ofB =
        Stream.iterate(0, i -> i + 1)
            .map(i -> "order-" + i)
            .filter(id -> !prefers(a, id))
            .findFirst()
            .orElseThrow();

    time.advance(PATIENCE.minusNanos(1));
    assertThat(prefers(a, ofB)).isFalse();
    time.advance(Duration.ofNanos(1));
    assertThat(prefers(a, ofB)).isTrue();

    signs.put("b", time.now().wall());
    assertThat(prefers(a, ofB)).isFalse();
    time.advance(PATIENCE);
    assertThat(prefers(a, ofB)).isTrue();
  }

  @Test
  void signFromBeforeTheStart_saysNothing() {
    signs.put("b", time.now().wall().minus(Duration.ofDays(1)));
    Affinity a = in("a", "a", "b");

    assertThat(IntStream.range(0, 100).allMatch(i -> prefers(a, "order-" + i))).isFalse();
  }

  @Test
  void headStartThatIsNotSet_followsWhatTheOtherZoneNeeds() {
    Affinity a = new Affinity("a", List.of("a", "b"), Optional.empty(), PATIENCE, signs::get, time);
    byte[] ofB =
        Stream.iterate(0, i -> i + 1)
            .map(i -> ("order-" + i).getBytes(UTF_8))
            .filter(id -> !a.headStartOfOthers(id).isZero())
            .findFirst()
            .orElseThrow();
    assertThat(a.headStartOfOthers(ofB)).isEqualTo(Duration.ofSeconds(1));

    for (int i = 0; i < 100; i++) {
      a.ended(ofB, Duration.ofSeconds(3));
    }
    assertThat(a.headStartOfOthers(ofB)).isBetween(Duration.ofSeconds(3), Duration.ofMillis(3100));

    for (int i = 0; i < 100; i++) {
      a.ended(ofB, Duration.ofMinutes(1));
    }
    assertThat(a.headStartOfOthers(ofB)).isEqualTo(PATIENCE.dividedBy(3));
  }
}
