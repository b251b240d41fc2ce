package io.firstclaim.simulation;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.engine.api.LetterHeaders;
import io.firstclaim.simulation.aws.StoreEvents;
import io.firstclaim.simulation.aws.Wire;
import io.firstclaim.simulation.check.ClaimEvents;
import io.firstclaim.simulation.check.Event;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.check.Traces;
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
  private static final Duration STOCK_EVERY = Duration.ofSeconds(1);

  /**
   * Two leases, with what is allowed for clocks and for a record that two holders died of, a
   * session, which has a partition wait for its next reader, and the pause of one who asks.
   */
  private static final Duration IDLE = Zones.LEASE.multipliedBy(9).dividedBy(2);

  /** Requests to the store, for each record that is settled once it is calm. */
  private static final int CALLS = 60;

  private final Course course;
  private final Cast cast;
  private final World world;
  private final Broker broker;
  private final History history;
  private final Zones zones;
  private final Users users;
  private final Storm storm;
  private final Wire wire;

  /** What came of it. */
  record Result(
      Course course,
      long hash,
      long steps,
      long preemptions,
      Duration simulated,
      int strikes,
      Map<String, Integer> reached,
      List<History.Violation> violations,
      Traces traces) {
    int faults() {
      return reached.entrySet().stream()
          .filter(each -> each.getKey().startsWith("fault: "))
          .mapToInt(Map.Entry::getValue)
          .sum();
    }
  }

  private Run(Course course, World world) {
    this.course = course;
    this.cast = Cast.of(course.seed());
    this.world = world;
    // The broker is asked for records before an offset only after all parts are there.
    Broker[] cluster = new Broker[1];
    this.history =
        new History(
            world,
            (partition, offset) ->
                cluster[0].before(partition, offset).stream().map(Run::deliveryOf).toList(),
            new History.Bounds(
                Zones.LEASE,
                ClaimSettings.LEAST_SKEW,
                cast.storeSkew(),
                Zones.HANDLER_TIME,
                Zones.MAX_ATTEMPTS,
                course.inFlight(),
                cast.waitsForOthers() ? SETTLED_WITHIN : IDLE,
                cast.isOfEnginesAlone() ? CALLS : Integer.MAX_VALUE),
            id -> id.startsWith(Jobs.PREFIX) ? Cast.JOBS_KEPT : Zones.RETENTION);
    this.wire = new Wire(world, kind -> history.reach("fault: " + kind));
    Backend backend = new Backend(world, cast, claims(), wire);
    this.broker = new Broker(world, kafka(), course.newProtocol());
    cluster[0] = broker;
    this.zones = new Zones(world, course, cast, broker, backend, history);
    this.users = new Users(world, course, cast, backend, broker, history);
    this.storm = new Storm(world, course, broker, backend, wire, zones, users, history);
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

  /** The record's ID, with the redrive that it comes by. */
  private static String deliveryOf(ConsumerRecord<byte[], byte[]> record) {
    String redrive = LetterHeaders.text(record.headers(), LetterHeaders.REDRIVE);
    return redrive == null ? idOf(record) : ClaimEvents.redriven(idOf(record), redrive);
  }

  private StoreEvents claims() {
    return new StoreEvents() {
      @Override
      public void wrote(String by, Map<String, String> before, Map<String, String> after) {
        ClaimEvents.of(world.now(), by, before, after).ifPresent(history::add);
      }

      @Override
      public void wroteWithoutCondition(String by, String request) {
        history.add(new Event.WroteBlindly(world.now(), by, request));
      }

      @Override
      public void answerLost(String by, List<Map<String, String>> took) {
        took.forEach(each -> ClaimEvents.lost(world.now(), by, each).ifPresent(history::add));
      }

      @Override
      public void reached(String what) {
        history.reach(what);
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

      @Override
      public void revoked(Machine member) {
        history.add(new Event.Revoked(world.now(), member.name()));
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
    users.begin();
    storm.begin();
    world.after(STOCK_EVERY, this::takeStock);
    switch (course.mode()) {
      case SAFETY -> {
        boolean _ = world.run(storm::isOver, course.storm());
      }
      case LIVENESS -> untilAllIsSettled();
    }
    zones.killAll();
    users.killAll();
    return new Result(
        course,
        world.hash(),
        world.steps(),
        Hooks.preemptions(),
        world.elapsed(),
        storm.strikes(),
        history.reached(),
        history.violations(),
        history.traces());
  }

  private void untilAllIsSettled() {
    boolean settled =
        world.run(
            everySoOften(() -> users.areSettled() && isSettled()),
            course.publishing().plus(SETTLED_WITHIN));
    if (!settled) {
      history.violated(
          course.losesZone() ? 21 : 18,
          "not settled in time in zone %s: %s, %s"
              .formatted(zones.names(), broker.progress(), users.progress()));
      users.leftFree().forEach(what -> history.violated(43, what + " is left free"));
      return;
    }
    history.add(new Event.Over(world.now(), wire.sent()));
    boolean _ = world.run(() -> false, world.elapsed().plus(LAST_COMMITS));
    zones.leftovers().forEach(what -> history.violated(22, what));
  }

  private boolean isSettled() {
    return world.elapsed().compareTo(course.publishing().plus(STOCK_EVERY)) > 0
        && zones.names().stream().allMatch(zone -> broker.isSettled("sim-" + zone));
  }

  private void takeStock() {
    zones.takeStock();
    world.after(STOCK_EVERY, this::takeStock);
  }

  /** Publishes each record three times, at any time of the storm, with those of its burst. */
  private void publishAll() {
    for (int time = 0; time < 3; time++) {
      Duration when = Duration.ZERO;
      for (int i = 0; i < course.records(); i++) {
        if (i % course.burst() == 0) {
          when = world.upTo(course.publishing());
        }
        byte[] key = ("r" + i).getBytes(StandardCharsets.UTF_8);
        byte[] value = value(i).getBytes(StandardCharsets.UTF_8);
        TopicPartition to = new TopicPartition("in", world.below(PARTITIONS));
        world.after(when, () -> broker.publish(to, key, value, List.of()));
      }
    }
    for (int i = 0; i < PARTITIONS; i++) {
      TopicPartition to = new TopicPartition("in", i);
      world.after(world.upTo(course.publishing()), () -> broker.publishAborted(to));
    }
  }

  /** Half of the records touch an account, if there are any. */
  private String value(int number) {
    return cast.accounts() == 0 || number % 2 == 0
        ? "{\"n\":%d}".formatted(number)
        : "{\"n\":%d,\"account\":\"%s\"}"
            .formatted(number, Locker.account(number / 2 % cast.accounts()));
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
