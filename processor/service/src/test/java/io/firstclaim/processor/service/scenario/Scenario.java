package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.FaultProxy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ThrowingRunnable;
import org.awaitility.pollinterval.IterativePollInterval;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * What one test works with: topics, a table or bucket and consumer groups of its own on the common
 * {@link Servers}, a {@link Sink} behind the handlers, and zones that it starts. All of it ends
 * with the test, or with the last one of a class that has it in a static field; if a test fails,
 * the ends of the zones' logs are shown.
 */
final class Scenario implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback {
  /** How long a test waits for what must come, however slow the machine: to end at all. */
  static final Duration PATIENCE = Duration.ofMinutes(10);

  /** What a machine that does much else may add to a time that is demanded. */
  static final Duration NOISE = Duration.ofMinutes(3);

  /** The default of {@code firstclaim.claim.max-skew}. */
  static final Duration SKEW = Duration.ofSeconds(1);

  /** Begins the IDs that a start sends first; the parts of a scenario do not show them. */
  static final String WARM_UP = "warm-up";

  /** The longest time between two looks at what is awaited. */
  private static final Duration SELDOM = Duration.ofMillis(600);

  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final Backend backend;
  private final int partitions;
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final List<Zone> zones = new ArrayList<>();
  private @Nullable Parts parts;

  private record Parts(
      String name,
      Path logs,
      Sink sink,
      Feed feed,
      Outcomes outcomes,
      Groups groups,
      Claims claims) {}

  /** A scenario on this backend whose input topic has that many partitions. */
  Scenario(Backend backend, int partitions) {
    this.backend = backend;
    this.partitions = partitions;
  }

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    begin(context, "all");
  }

  @Override
  public void beforeEach(ExtensionContext context) throws IOException {
    if (parts == null) {
      begin(context, context.getRequiredTestMethod().getName());
    }
  }

  /** Begins what ends with this context, a test's or a class's. */
  private void begin(ExtensionContext context, String tests) throws IOException {
    context.getStore(Namespace.create(this)).put("end", (AutoCloseable) this::end);
    String test = context.getRequiredTestClass().getSimpleName();
    String name = test.toLowerCase(Locale.ROOT) + "-" + NUMBER.incrementAndGet();
    Groups groups = open(new Groups());
    groups.createTopic(name, partitions);
    parts =
        new Parts(
            name,
            Path.of("target", "it", test + "." + backend + "." + tests),
            open(new Sink()),
            open(new Feed(name)),
            open(new Outcomes(name + ".outcomes")),
            groups,
            open(backend.claims(name)));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (context.getExecutionException().isPresent()) {
      System.err.printf("%n--- calls under way: %s%n", sink().underWay());
      for (Zone zone : zones) {
        System.err.printf("%n--- %s, its end:%n%s%n", zone.log(), zone.logTail());
        if (zone.isAlive()) {
          System.err.printf("--- what its threads do: %s%n", zone.dumpThreads());
        }
      }
    }
  }

  private void end() throws Exception {
    while (!open.isEmpty()) {
      open.removeLast().close();
    }
  }

  private Parts parts() {
    return Objects.requireNonNull(parts, "the test has not begun");
  }

  /** The input topic; table or bucket and consumer groups are named after it. */
  String topic() {
    return parts().name;
  }

  Sink sink() {
    return parts().sink;
  }

  Feed feed() {
    return parts().feed;
  }

  Outcomes outcomes() {
    return parts().outcomes;
  }

  Groups groups() {
    return parts().groups;
  }

  Claims claims() {
    return parts().claims;
  }

  /** The dead letters of the input topic. */
  TopicReader<DeadLetter> deadLetters() {
    return open(new TopicReader<>(topic() + ".dlt", DeadLetter::of));
  }

  Backend backend() {
    return backend;
  }

  /**
   * A proxy in front of the store, for zones that are to be {@linkplain Zone#through put behind}
   * it.
   */
  FaultProxy proxy() {
    return open(FaultProxy.start(backend.endpoint()));
  }

  /** An instance of a zone, the first of its name or a further one; not started. */
  Zone zone(String name) {
    long before = zones.stream().filter(zone -> zone.name().equals(name)).count();
    String instance = name + (before + 1);
    Zone zone =
        new Zone(name, instance, parts().logs.resolve(instance + ".log"), backend, topic())
            .set("FIRSTCLAIM_INPUT_TOPICS", topic())
            .set("FIRSTCLAIM_INPUT_GROUP", group(name))
            .set("FIRSTCLAIM_OUTCOMES_TOPIC", topic() + ".outcomes")
            .set("FIRSTCLAIM_HANDLER_HTTP_URL", sink().url());
    zones.add(open(zone));
    return zone;
  }

  /** The consumer group of a zone. */
  String group(String zone) {
    return topic() + "-" + zone;
  }

  /** What a zone has committed of the input topic, by partition. */
  Map<Integer, Long> committed(Zone zone) {
    return groups().committed(zone.group(), topic());
  }

  /** Starts all instances side by side, waits until they have their partitions, warms them up. */
  void start() {
    start(zones.toArray(Zone[]::new));
    warmUp();
  }

  /** Has the zones process some records before those that count. */
  void warmUp() {
    List<String> ids = Feed.ids(WARM_UP, 20 * zones.size());
    feed().send(ids);
    eventually("the zones are warm", () -> assertThat(outcomes().warmUps()).hasSize(ids.size()));
  }

  /** Starts instances side by side and waits until each is ready and has its partitions. */
  void start(Zone... starting) {
    Arrays.stream(starting).forEach(Zone::launch);
    Arrays.stream(starting).forEach(Zone::awaitReady);
    for (Zone zone : starting) {
      String group = zone.group();
      eventually(
          group + " is balanced",
          () -> groups().requireBalanced(group, partitions, running(group)));
    }
  }

  private int running(String group) {
    return (int)
        zones.stream().filter(zone -> zone.group().equals(group) && zone.isAlive()).count();
  }

  /** Waits until the assertion holds; fails at once if a zone ends that nobody ended. */
  void eventually(String what, ThrowingRunnable assertion) {
    within(PATIENCE, what).untilAsserted(assertion);
  }

  /**
   * Fails unless the handlers were called once for a record, and once more for each attempt that
   * failed or whose lease ran out, which happens on a machine busy enough.
   */
  void requireNoNeedlessCall(String id) {
    List<Long> tokens = sink().tokensOf(id);
    assertThat(tokens).as("tokens of %s", id).isNotEmpty().isSorted().doesNotHaveDuplicates();
    assertThat(tokens)
        .as("tokens of %s", id)
        .hasSizeLessThanOrEqualTo(
            1 + outcomes().of("TAKEN_OVER", id) + outcomes().of("FAILED", id));
  }

  /** Waits until the groups of these instances have committed everything. */
  void awaitAtTheEnd(Zone... of) {
    for (Zone zone : of) {
      eventually(
          zone.group() + " is at the end",
          () -> assertThat(committed(zone)).isEqualTo(groups().ends(topic())));
    }
  }

  /** Waits until all these records, and perhaps others, are completed. */
  void awaitCompleted(Collection<String> ids) {
    awaitCompleted(ids, PATIENCE);
  }

  void awaitCompleted(Collection<String> ids, Duration limit) {
    within(limit, "the records are completed")
        .untilAsserted(
            () -> {
              Set<String> missing = new TreeSet<>(ids);
              missing.removeAll(outcomes().ids("COMPLETED"));
              assertThat(missing).isEmpty();
            });
  }

  ConditionFactory within(Duration limit, String what) {
    return await(what)
        .atMost(limit)
        .failFast(
            "a zone ended by itself", () -> zones.stream().anyMatch(Zone::hasEndedUnexpectedly));
  }

  /** Waits with {@link #PATIENCE}; looks ever more seldom, as a look takes the zone's CPU time. */
  static ConditionFactory await(String what) {
    return Awaitility.await(what)
        .pollInSameThread()
        .pollDelay(Duration.ZERO)
        .pollInterval(IterativePollInterval.iterative(Scenario::longer, Duration.ofMillis(100)))
        .atMost(PATIENCE);
  }

  private static Duration longer(Duration interval) {
    Duration longer = interval.multipliedBy(5).dividedBy(4);
    return longer.compareTo(SELDOM) < 0 ? longer : SELDOM;
  }

  private <T extends AutoCloseable> T open(T resource) {
    open.addLast(resource);
    return resource;
  }
}
