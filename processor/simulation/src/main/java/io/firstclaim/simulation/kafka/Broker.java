package io.firstclaim.simulation.kafka;

import io.firstclaim.processor.engine.kafka.Clients;
import io.firstclaim.processor.engine.kafka.TopicIds;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * The cluster. It forgets what retention lets it forget; it is one machine that is never down by
 * itself, but from which others may be cut off, one way or both, or all at once, which is a
 * restart.
 */
public final class Broker {
  private static final Duration SESSION = Duration.ofSeconds(10);
  private static final Duration MAX_POLL_INTERVAL = Duration.ofMinutes(5);
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);

  private final World world;
  private final Listener listener;
  private final boolean newProtocol;
  private final Map<String, List<Log>> topics = new TreeMap<>();
  private final Map<String, Group> groups = new TreeMap<>();
  private final List<SimulatedConsumer> consumers = new ArrayList<>();
  private final Set<String> deaf = new TreeSet<>();
  private final Set<String> mute = new TreeSet<>();
  private boolean down;

  /** Hears of what the cluster has taken. */
  public interface Listener {
    /** A record was appended. */
    void appended(ConsumerRecord<byte[], byte[]> record, Machine by);

    /** A group's offset was committed: all records before it are settled. */
    void committed(String group, TopicPartition partition, long offset);

    /** A member has committed what is not assigned to it. */
    void committedByStranger(Machine member, TopicPartition partition);

    /** Partitions were taken from a member, which knows it now. */
    void revoked(Machine member);
  }

  /**
   * A cluster without topics.
   *
   * @param newProtocol whether groups use the protocol of KIP-848, by which a failed commit tells
   *     no offsets
   */
  public Broker(World world, Listener listener, boolean newProtocol) {
    this.world = world;
    this.listener = listener;
    this.newProtocol = newProtocol;
    world.after(LOOK_EVERY, this::endSessions);
  }

  World world() {
    return world;
  }

  Listener listener() {
    return listener;
  }

  boolean isNewProtocol() {
    return newProtocol;
  }

  /** Makes a topic. */
  public void create(String topic, int partitions) {
    List<Log> logs = new ArrayList<>();
    for (int i = 0; i < partitions; i++) {
      logs.add(new Log(new TopicPartition(topic, i)));
    }
    topics.put(topic, logs);
  }

  /** Whether there is such a topic. */
  boolean has(String topic) {
    return topics.containsKey(topic);
  }

  List<TopicPartition> partitions(String topic) {
    List<TopicPartition> all = new ArrayList<>();
    for (int i = 0; i < topics.getOrDefault(topic, List.of()).size(); i++) {
      all.add(new TopicPartition(topic, i));
    }
    return all;
  }

  Log log(TopicPartition partition) {
    return Objects.requireNonNull(topics.get(partition.topic()), partition.topic())
        .get(partition.partition());
  }

  /** All records of a partition before this offset. */
  public List<ConsumerRecord<byte[], byte[]>> before(TopicPartition partition, long offset) {
    return log(partition).read(0, Integer.MAX_VALUE).stream()
        .filter(record -> record.offset() < offset)
        .toList();
  }

  /** All records of a topic; none if there is no such topic. */
  public List<ConsumerRecord<byte[], byte[]>> all(String topic) {
    return partitions(topic).stream()
        .flatMap(each -> log(each).read(0, Integer.MAX_VALUE).stream())
        .toList();
  }

  /** Publishes a record from outside of all machines. */
  public void publish(
      TopicPartition to, byte @Nullable [] key, byte[] value, List<Header> headers) {
    ConsumerRecord<byte[], byte[]> _ =
        log(to).append(key, value, headers, world.now().toEpochMilli());
    wakeReadersOf(to);
  }

  /** Aborts a transaction of one record. */
  public void publishAborted(TopicPartition to) {
    log(to).appendAborted();
  }

  void append(
      Machine by,
      TopicPartition to,
      byte @Nullable [] key,
      byte @Nullable [] value,
      Iterable<Header> headers) {
    listener.appended(log(to).append(key, value, headers, world.now().toEpochMilli()), by);
    wakeReadersOf(to);
  }

  private void wakeReadersOf(TopicPartition partition) {
    consumers.stream().filter(each -> each.reads(partition)).forEach(SimulatedConsumer::wake);
  }

  // Networks

  /** Requests of a machine do not arrive any more. */
  public void cutRequests(Machine machine) {
    deaf.add(machine.name());
  }

  /** Requests of a machine arrive, and no answers. */
  public void cutAnswers(Machine machine) {
    mute.add(machine.name());
  }

  /** All is well with this machine's network. */
  public void mend(Machine machine) {
    deaf.remove(machine.name());
    mute.remove(machine.name());
  }

  /** The cluster restarts: for a while nobody can reach it. */
  public void setDown(boolean whether) {
    down = whether;
  }

  boolean hears(Machine machine) {
    return !down && !deaf.contains(machine.name());
  }

  boolean isHeardBy(Machine machine) {
    return !down && !mute.contains(machine.name());
  }

  // Groups

  Group group(String name, List<String> of) {
    return groups.computeIfAbsent(
        name,
        _ -> new Group(name, of.stream().flatMap(each -> partitions(each).stream()).toList()));
  }

  /** Whether all that this group was given is committed, to its end. */
  public boolean isSettled(String name) {
    Group group = groups.get(name);
    return group != null && partitions("in").stream().allMatch(each -> isSettled(group, each));
  }

  private boolean isSettled(Group group, TopicPartition partition) {
    List<ConsumerRecord<byte[], byte[]>> all = log(partition).read(0, Integer.MAX_VALUE);
    return all.isEmpty() || group.begin(partition) > all.getLast().offset();
  }

  /** What is committed, for people. */
  public Map<String, String> progress() {
    Map<String, String> all = new LinkedHashMap<>();
    for (Group group : groups.values()) {
      for (TopicPartition each : partitions("in")) {
        all.put(group.name() + " " + each, group.begin(each) + " of " + log(each).end());
      }
    }
    return all;
  }

  /**
   * Rewinds some of a group's partitions, as an operator would: its members are put out first, as
   * Kafka lets nobody rewind a group that is at work.
   */
  public void rewind(String name) {
    Group group = groups.get(name);
    if (group == null) {
      return;
    }
    group.members().forEach(this::expel);
    for (TopicPartition each : partitions("in")) {
      Long committed = group.committed(each);
      if (committed != null && world.chance(0.5)) {
        group.commit(each, world.below((int) (committed + 1)));
      }
    }
  }

  /**
   * Retention: deletes the oldest records of some partitions, of the input those alone that all
   * groups have committed, as it would be set; and of what is a hint, any.
   */
  public void deleteOldRecords() {
    for (Map.Entry<String, List<Log>> topic : topics.entrySet()) {
      for (Log log : topic.getValue()) {
        if (world.chance(0.5) && !topic.getKey().endsWith(".dlt")) {
          log.deleteBefore(world.below((int) mayBeDeleted(log) + 1));
        }
      }
    }
  }

  private long mayBeDeleted(Log log) {
    return log.id().topic().equals("in")
        ? groups.values().stream().mapToLong(each -> each.begin(log.id())).min().orElse(0)
        : log.end();
  }

  private void expel(SimulatedConsumer member) {
    world.note("expelled " + member.machine().name());
    for (Group group : groups.values()) {
      group.remove(member);
    }
    member.fence();
  }

  /** Puts out those who were not heard of for a session; heartbeats come from their own threads. */
  private void endSessions() {
    for (SimulatedConsumer each : consumers) {
      if (each.machine().isUp() && hears(each.machine()) && isHeardBy(each.machine())) {
        each.beat();
      }
    }
    for (Group group : groups.values()) {
      for (SimulatedConsumer member : group.members()) {
        if (member.sinceBeat().compareTo(SESSION) > 0
            || member.sincePoll().compareTo(MAX_POLL_INTERVAL) > 0) {
          expel(member);
        }
      }
    }
    consumers.removeIf(
        each ->
            each.machine().isDead()
                && groups.values().stream().noneMatch(group -> group.has(each)));
    world.after(LOOK_EVERY, this::endSessions);
  }

  /** The clients of an engine on this machine. */
  public Clients clients(Machine machine, String group) {
    return new SimulatedClients(machine, group);
  }

  private final class SimulatedClients implements Clients {
    private final Machine machine;
    private final String group;

    SimulatedClients(Machine machine, String group) {
      this.machine = machine;
      this.group = group;
    }

    @Override
    public Consumer<byte[], byte[]> input() {
      return consumer(Optional.of(group));
    }

    @Override
    public Consumer<byte[], byte[]> outcomes() {
      return consumer(Optional.empty());
    }

    @SuppressWarnings("unchecked")
    private Consumer<byte[], byte[]> consumer(Optional<String> of) {
      SimulatedConsumer consumer = new SimulatedConsumer(Broker.this, machine, of);
      consumers.add(consumer);
      return Partial.as(Consumer.class, consumer);
    }

    @Override
    public Producer<byte[], byte[]> outcomesProducer() {
      return producer();
    }

    @Override
    @SuppressWarnings("unchecked")
    public Producer<byte[], byte[]> producer() {
      return Partial.as(Producer.class, new SimulatedProducer(Broker.this, machine));
    }

    @Override
    public TopicIds topicIds() {
      return new TopicIds(this::admin, List.of());
    }

    @Override
    public Admin admin() {
      return Partial.as(Admin.class, new SimulatedAdmin(Broker.this, machine));
    }

    @Override
    public boolean hasAddress() {
      return true;
    }
  }
}
