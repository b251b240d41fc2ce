package io.firstclaim.processor.engine.outcome;

import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.engine.api.OtherInstance;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that all instances of an application use one store, and find in it the same records
 * under the same IDs: else each would handle every record. Each says on the outcomes topic by which
 * {@link Terms} it takes records, before it does and as long as it lives, all in one partition, so
 * that all read the same order. An instance takes records once it has read its own announcement
 * back, if none with other terms stands before it; else it waits until that one has gone. Where one
 * store, or one value of a setting, was there first, its later instances are as old as its oldest.
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

  /** Stands for the offset of an instance that takes no records. */
  private static final long NONE = Long.MAX_VALUE;

  private final EngineSettings settings;
  private final Origin origin;
  private final Terms terms;
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
   * @param differing what it has where no other may differ, but it does
   * @param since where it stands in the order; {@link #NONE} if it takes no records
   * @param beat its last message
   * @param round how many of our own messages had been read before that
   */
  private record Other(
      Terms terms, Map<String, String> differing, Holder name, long since, long beat, long round) {}

  /**
   * An agreement with nobody yet.
   *
   * @param store the identity of this instance's store
   */
  public StoreAgreement(EngineSettings settings, Origin origin, String store) {
    this.settings = settings;
    this.origin = origin;
    this.terms = Terms.of(settings, store);
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
            : "zone %s, instance %s of this application %s and was there first, this instance %s: %s; until then no records are taken here"
                .formatted(
                    rival.name.zone(),
                    rival.name.instance(),
                    has(rival.terms),
                    own(rival.terms),
                    remedy(rival.terms)));
  }

  /** What another instance has that differs from this one's, in words. */
  private String has(Terms other) {
    String differing =
        terms.differing(Terms.BINDING, other).stream()
            .filter(what -> !what.equals(Terms.STORE))
            .collect(Collectors.joining(", "));
    String store = terms.differs(Terms.STORE, other) ? "uses store " + shown(store(other)) : "";
    String another = differing.isEmpty() ? "" : "has another " + differing;
    return store.isEmpty() || another.isEmpty() ? store + another : store + ", " + another;
  }

  /** What this instance has in place of that, in words. */
  private String own(Terms other) {
    Map<String, String> written = Terms.written(settings);
    return terms.differing(Terms.BINDING, other).stream()
        .map(
            what ->
                what.equals(Terms.STORE)
                    ? "uses store " + shown(store(terms))
                    : "has %s=%s".formatted(what, shown(written.getOrDefault(what, ""))))
        .collect(Collectors.joining(", "));
  }

  private String remedy(Terms other) {
    return terms.differs(Terms.STORE, other)
        ? "give both the same table or bucket (name, Region, endpoint)"
        : "give both the same";
  }

  private static String store(Terms of) {
    return of.values().getOrDefault(Terms.STORE, "");
  }

  /**
   * How many other stores, or other settings that must be shared, living instances of this
   * application use; none, if all is well.
   */
  public synchronized int otherStores() {
    return (int)
        others.values().stream()
            .map(Other::differing)
            .filter(differing -> !differing.isEmpty())
            .distinct()
            .count();
  }

  /**
   * The other living instances, and those that may have died a moment ago; empty as long as this
   * one has not listened for long enough to know, or does not read what it announces itself.
   */
  public synchronized Optional<List<OtherInstance>> others() {
    long notReadBack = sent - lastHeard;
    if (rounds < HEARD_ALL || notReadBack > HEARD_ALL) {
      return Optional.empty();
    }
    return Optional.of(
        others.values().stream()
            .map(
                other ->
                    new OtherInstance(
                        other.name.zone(),
                        other.name.instance(),
                        PresenceBeat.EVERY.multipliedBy(rounds - other.round + notReadBack)))
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
        since == NONE ? Presence.UNKNOWN : since,
        terms.digests());
  }

  /** A presence was read. */
  synchronized void heard(ConsumerRecord<byte[], byte[]> message) {
    byte[] value = message.value();
    Optional<Presence> read = value == null ? Optional.empty() : Presence.read(value);
    if (read.isEmpty() || !origin.isApplicationOf(message.headers())) {
      return;
    }
    Terms theirs = Terms.of(message.headers(), read.get());
    boolean could = rival() == null;
    boolean took = isReached();
    int before = otherStores();
    if (origin.isSenderOf(message.headers())) {
      heardOwn(read.get(), message.offset());
    } else if (isOfSameRecords(read.get())) {
      heardOther(Origin.senderOf(message.headers()), theirs, read.get(), message.offset());
    }
    boolean can = rival() == null;
    if (took && !can) {
      since = NONE;
    }
    if (could && !can) {
      LOG.error("Takes no records: {}", obstacle().orElseThrow());
    } else if (can && otherStores() > before) {
      LOG.error(
          "Zone {}, instance {} of this application {}, this instance {} and was there first: it goes"
              + " on, and the other takes no records; {}",
          shown(read.get().zone()),
          shown(read.get().instance()),
          has(theirs),
          own(theirs),
          remedy(theirs));
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
        LOG.info("Takes records, with store {}", shown(store(terms)));
      }
      since = Math.min(since, offset); // the offset is only lower if the topic was made anew
    }
  }

  private void heardOther(String sender, Terms theirs, Presence other, long offset) {
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
      Map<String, String> differing = theirs.of(terms.differing(Terms.BINDING, theirs));
      others.put(sender, new Other(theirs, differing, name, place, other.beat(), rounds));
      if (before == null) {
        warn(name, theirs);
      }
    }
  }

  private void warn(Holder name, Terms theirs) {
    for (String what : terms.differing(Terms.ADVISED, theirs)) {
      LOG.warn(
          "Zone {}, instance {} of this application has another {} than this instance's {}: let all"
              + " have the same, once you have changed it everywhere",
          name.zone(),
          name.instance(),
          what,
          Terms.written(settings).get(what));
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

  /** The first with another of what is binding, if it stands before all that have ours of it. */
  private @Nullable Other rival() {
    Map<String, Long> ours = new HashMap<>();
    Other first = null;
    for (Other other : others.values()) {
      if ((first == null || other.since < first.since)
          && other.differing.keySet().stream()
              .anyMatch(what -> other.since < ours.computeIfAbsent(what, this::firstOfOurs))) {
        first = other;
      }
    }
    return first;
  }

  /** The offset of the first instance that has the same as this one in this. */
  private long firstOfOurs(String what) {
    long first = since;
    for (Other other : others.values()) {
      if (terms.isAlike(what, other.terms)) {
        first = Math.min(first, other.since);
      }
    }
    return first;
  }

  private static String shown(String text) {
    return OneLine.of(text, MAX_SHOWN);
  }
}
