package io.firstclaim.processor.engine.outcome;

import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.engine.api.OtherInstance;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that all instances of an application use one store: with two, each would handle every
 * record. Each says on the outcomes topic which store it uses, before it takes records and as long
 * as it lives, all in one partition, so that all read the same order. An instance takes records
 * once it has read its own announcement back, if none that uses another store stands before it;
 * else it waits until that one has gone. Where one store was there first, its later instances are
 * as old as its oldest.
 *
 * <p>An instance is gone when it says so, or when nothing was heard of it between so many of our
 * own announcements: no clock is asked, and if nothing is heard at all, nobody is taken for gone.
 * Thread-safe.
 */
public final class StoreAgreement {
  private static final Logger LOG = LoggerFactory.getLogger(StoreAgreement.class);

  /** After so many announcements of our own without one of another's, that one is gone. */
  static final int SILENT = 6;

  /** Within so many announcements of our own, every living instance is heard. */
  private static final int HEARD_ALL = 3;

  /** How many others are remembered, as anybody may write to a topic. */
  private static final int MAX_OTHERS = 1_000;

  private static final int MAX_SHOWN = 80;

  /** The place of one that takes no records. */
  private static final long NONE = Long.MAX_VALUE;

  private final EngineSettings settings;
  private final Origin origin;
  private final String store;
  private final Holder self;
  private final Map<String, Other> others = new HashMap<>();
  private long sent;
  private long lastHeard;
  private long rounds;
  private volatile long since = NONE;
  private volatile Runnable onTurn = () -> {};

  /**
   * Another instance.
   *
   * @param since where it stands in the order; {@link #NONE} if it takes no records
   * @param beat its last message
   * @param round how many of our own messages had been read before that
   */
  private record Other(String store, Holder name, long since, long beat, long round) {}

  /**
   * An agreement with nobody yet.
   *
   * @param store the identity of this instance's store
   */
  public StoreAgreement(EngineSettings settings, Origin origin, String store) {
    this.settings = settings;
    this.origin = origin;
    this.store = store;
    this.self = Holder.parse(settings.claim().store().holder());
  }

  /** Called when something is to be announced at once. Must not block. */
  void onTurn(Runnable then) {
    onTurn = then;
  }

  /** Whether this instance may take records. */
  public boolean isReached() {
    return since != NONE;
  }

  /** Why it may not; empty if it may. */
  public synchronized Optional<String> obstacle() {
    if (isReached()) {
      return Optional.empty();
    }
    Other rival = rival();
    return Optional.of(
        rival == null
            ? "this instance's store could not yet be announced on the outcomes topic: it must be"
                + " allowed to write and read there"
            : "zone %s, instance %s of this application uses store %s and was there first, this instance uses store %s: give both the same table or bucket (name, Region, endpoint); until then no records are taken here"
                .formatted(
                    rival.name.zone(), rival.name.instance(), shown(rival.store), shown(store)));
  }

  /** How many other stores living instances of this application use; none, if all is well. */
  public synchronized int otherStores() {
    return (int)
        others.values().stream()
            .map(Other::store)
            .filter(other -> !other.equals(store))
            .distinct()
            .count();
  }

  /**
   * The other living instances, and those that may have died a moment ago; empty as long as this
   * one has not listened for long enough to know.
   */
  public synchronized Optional<List<OtherInstance>> others() {
    if (rounds < HEARD_ALL) {
      return Optional.empty();
    }
    return Optional.of(
        others.values().stream()
            .map(
                other ->
                    new OtherInstance(
                        other.name.zone(),
                        other.name.instance(),
                        PresenceBeat.EVERY.multipliedBy(rounds - other.round)))
            .toList());
  }

  /** What to announce now. */
  synchronized Presence next() {
    return presence(rival() == null ? Presence.Kind.PRESENT : Presence.Kind.WAITING);
  }

  /** What to announce at the end. */
  synchronized Presence last() {
    return presence(Presence.Kind.GONE);
  }

  private Presence presence(Presence.Kind kind) {
    return new Presence(
        kind,
        self.zone(),
        self.instance(),
        settings.input().group(),
        settings.input().topics(),
        ++sent,
        since == NONE ? Presence.UNKNOWN : since);
  }

  /** A presence was read. */
  synchronized void heard(ConsumerRecord<byte[], byte[]> message) {
    byte[] value = message.value();
    Optional<Presence> read = value == null ? Optional.empty() : Presence.read(value);
    if (read.isEmpty() || !origin.isApplicationOf(message.headers())) {
      return;
    }
    boolean could = rival() == null;
    boolean took = isReached();
    int before = otherStores();
    if (origin.isSenderOf(message.headers())) {
      heardOwn(read.get(), message.offset());
    } else if (isOfSameRecords(read.get())) {
      heardOther(
          Origin.senderOf(message.headers()),
          Origin.storeOf(message.headers()),
          read.get(),
          message.offset());
    }
    boolean can = rival() == null;
    if (took && !can) {
      since = NONE;
    }
    if (could && !can) {
      LOG.error("Takes no records: {}", obstacle().orElseThrow());
    } else if (can && otherStores() > before) {
      LOG.error(
          "Zone {}, instance {} of this application uses store {}, this instance uses store {} and"
              + " was there first: it goes on, and the other takes no records. Give both the same"
              + " table or bucket (name, Region, endpoint)",
          shown(read.get().zone()),
          shown(read.get().instance()),
          shown(Origin.storeOf(message.headers())),
          shown(store));
    }
    if (could != can) {
      onTurn.run();
    }
  }

  /** What is read once more, after a fault, says nothing new. */
  private void heardOwn(Presence own, long offset) {
    if (own.beat() <= lastHeard) {
      return;
    }
    lastHeard = own.beat();
    rounds++;
    others.values().removeIf(other -> rounds - other.round > SILENT);
    if (own.kind() == Presence.Kind.PRESENT && rival() == null) {
      if (since == NONE) {
        LOG.info("Takes records, with store {}", shown(store));
      }
      since = Math.min(since, offset); // it only falls if the topic was made anew
    }
  }

  private void heardOther(String sender, String otherStore, Presence other, long offset) {
    Other before = others.get(sender);
    if ((before == null && others.size() >= MAX_OTHERS)
        || (before != null && other.beat() <= before.beat)) {
      return;
    }
    long place =
        switch (other.kind()) {
          case PRESENT -> other.since() == Presence.UNKNOWN ? offset : other.since();
          case WAITING, GONE -> NONE;
        };
    if (other.kind() == Presence.Kind.GONE) {
      others.remove(sender);
    } else {
      Holder name = new Holder(shown(other.zone()), shown(other.instance()));
      others.put(sender, new Other(otherStore, name, place, other.beat(), rounds));
    }
  }

  /**
   * Whether another instance that says it is of this application takes the same records: it reads
   * one of the input topics, and not in a group of its own under this zone's name, as all instances
   * of a zone have one group.
   */
  private boolean isOfSameRecords(Presence other) {
    boolean otherGroup =
        other.zone().equals(self.zone()) && !other.group().equals(settings.input().group());
    return !otherGroup && !Collections.disjoint(other.topics(), settings.input().topics());
  }

  /** The first to use another store, if it stands before all that use ours. */
  private @Nullable Other rival() {
    long ours =
        Math.min(
            since, first(others.values().stream().filter(o -> o.store.equals(store)).toList()));
    return others.values().stream()
        .filter(other -> !other.store.equals(store) && other.since < ours)
        .min(Comparator.comparingLong(Other::since))
        .orElse(null);
  }

  private static long first(Collection<Other> of) {
    return of.stream().mapToLong(Other::since).min().orElse(NONE);
  }

  private static String shown(String text) {
    return OneLine.of(text, MAX_SHOWN);
  }
}
