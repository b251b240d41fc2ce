package io.firstclaim.simulation;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.simulation.aws.DynamoDb;
import io.firstclaim.simulation.aws.Wire;
import io.firstclaim.simulation.check.ClaimEvents;
import io.firstclaim.simulation.check.Event;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.hook.Hooks;
import io.firstclaim.simulation.kafka.Broker;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/** Everything that happens under one seed. */
final class Run {
  private static final int PARTITIONS = 4;

  /** How long after the last fault everything must be settled, handlers' own time included. */
  private static final Duration SETTLED_WITHIN = Duration.ofMinutes(5);

  private static final Duration LAST_COMMITS = Duration.ofSeconds(15);

  private final Course course;
  private final World world;
  private final Broker broker;
  private final History history;
  private final Zones zones;
  private final Storm storm;

  /** What came of it. */
  record Result(
      Course course,
      long hash,
      long steps,
      long preemptions,
      Duration simulated,
      Map<String, Integer> reached,
      List<History.Violation> violations) {
    int faults() {
      return reached.entrySet().stream()
          .filter(each -> each.getKey().startsWith("fault: "))
          .mapToInt(Map.Entry::getValue)
          .sum();
    }
  }

  private Run(Course course, World world) {
    this.course = course;
    this.world = world;
    // The broker is asked for records before an offset only after all parts are there.
    Broker[] cluster = new Broker[1];
    this.history =
        new History(
            world,
            (partition, offset) ->
                cluster[0].before(partition, offset).stream().map(Run::idOf).toList(),
            ClaimSettings.LEAST_SKEW,
            Zones.MAX_ATTEMPTS);
    Wire wire = new Wire(world, kind -> history.reach("fault: " + kind));
    DynamoDb dynamoDb = new DynamoDb(world, wire, claims());
    this.broker = new Broker(world, kafka(), course.newProtocol());
    cluster[0] = broker;
    this.zones = new Zones(world, course, broker, dynamoDb, history);
    this.storm = new Storm(world, course, broker, dynamoDb, wire, zones, history);
  }

  /** Runs it. */
  static Result of(Course course, Consumer<String> log) {
    try (World world = new World(course.seed(), course.preemptOneIn(), log)) {
      return new Run(course, world).toItsEnd();
    }
  }

  private static String idOf(ConsumerRecord<byte[], byte[]> record) {
    return new String(record.key(), StandardCharsets.UTF_8);
  }

  private DynamoDb.Listener claims() {
    return new DynamoDb.Listener() {
      @Override
      public void wrote(Machine by, Map<String, String> before, Map<String, String> after) {
        ClaimEvents.of(world.now(), by.name(), before, after).ifPresent(history::add);
      }

      @Override
      public void wroteWithoutCondition(Machine by, String request) {
        history.add(new Event.WroteBlindly(world.now(), by.name(), request));
      }

      @Override
      public void fault(String kind) {
        history.reach("fault: " + kind);
      }
    };
  }

  private Broker.Listener kafka() {
    return new Broker.Listener() {
      @Override
      public void appended(ConsumerRecord<byte[], byte[]> record, Machine by) {
        if (record.topic().equals("in.dlt")) {
          history.add(new Event.Letter(world.now(), by.name(), idOf(record)));
        }
      }

      @Override
      public void committed(String group, TopicPartition partition, long offset) {
        history.add(new Event.Committed(world.now(), group, partition, offset));
      }

      @Override
      public void committedByStranger(Machine member, TopicPartition partition) {
        history.add(new Event.CommittedByStranger(world.now(), member.name(), partition));
      }
    };
  }

  private Result toItsEnd() {
    broker.create("in", PARTITIONS);
    for (String zone : List.of("a", "b")) {
      zones.boot(zone, "1");
      zones.boot(zone, "2");
    }
    publishAll();
    storm.begin();
    boolean settled =
        world.run(
            everySoOften(() -> storm.isOver() && broker.isSettled(2)),
            course.storm().plus(SETTLED_WITHIN));
    if (!settled) {
      history.violated(18, "not settled in time: " + broker.progress());
    } else {
      boolean _ = world.run(() -> false, world.elapsed().plus(LAST_COMMITS));
      zones.leftovers().forEach(what -> history.violated(22, what));
    }
    zones.killAll();
    return new Result(
        course,
        world.hash(),
        world.steps(),
        Hooks.preemptions(),
        world.elapsed(),
        history.reached(),
        history.violations());
  }

  /** Each record three times, at any time of the storm. */
  private void publishAll() {
    for (int i = 0; i < course.records(); i++) {
      byte[] key = ("r" + i).getBytes(StandardCharsets.UTF_8);
      byte[] value = "{\"n\":%d}".formatted(i).getBytes(StandardCharsets.UTF_8);
      for (int time = 0; time < 3; time++) {
        TopicPartition to = new TopicPartition("in", world.below(PARTITIONS));
        world.after(world.upTo(course.storm()), () -> broker.publish(to, key, value, List.of()));
      }
    }
    for (int i = 0; i < PARTITIONS; i++) {
      TopicPartition to = new TopicPartition("in", i);
      world.after(world.upTo(course.storm()), () -> broker.publishAborted(to));
    }
  }

  /** What takes long to find out is asked every 500 steps. */
  private BooleanSupplier everySoOften(BooleanSupplier question) {
    long[] asked = {0};
    boolean[] answer = {false};
    return () -> {
      if (world.steps() - asked[0] > 500) {
        asked[0] = world.steps();
        answer[0] = question.getAsBoolean();
      }
      return answer[0];
    };
  }
}
