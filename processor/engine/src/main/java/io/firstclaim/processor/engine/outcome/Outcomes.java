package io.firstclaim.processor.engine.outcome;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.OtherInstance;
import io.firstclaim.processor.engine.kafka.Clients;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/**
 * What instances tell each other on the outcomes topic, if there is one: what became of records,
 * and which store each uses. Thread-safe.
 */
public final class Outcomes {
  private static final int KNOWN = 100_000;
  private static final Duration READ_UP = Duration.ofSeconds(10);

  private final Clients clients;
  private final Optional<String> topic;
  private final EngineListener listener;
  private final TimeSource time;
  private final Origin origin;
  private final OutcomeWriter writer;
  private final KnownDone known;
  private final StoreAgreement agreement;
  private final Optional<PresenceBeat> presence;
  private volatile @Nullable OutcomeFeed feed;

  /**
   * Nothing is told or heard yet.
   *
   * @param store the identity of the instance's store
   */
  public Outcomes(
      EngineSettings settings,
      Clients clients,
      String store,
      EngineListener listener,
      TimeSource time) {
    String self = Nonce.random().toString();
    this.clients = clients;
    this.topic = settings.outcomesTopic();
    this.listener = listener;
    this.time = time;
    this.origin =
        new Origin(settings.application(), settings.claim().store().namespace(), store, self);
    Producer<byte[], byte[]> producer = clients.outcomesProducer();
    listener.opened(producer);
    this.writer = new OutcomeWriter(producer, topic, origin);
    this.known =
        new KnownDone(
            KNOWN, settings.input().bufferedForEnds(), settings.claim().store().retention(), time);
    this.agreement = new StoreAgreement(settings, origin, store);
    this.presence =
        topic.map(name -> new PresenceBeat(producer, name, origin, self, agreement, time));
  }

  /** The records whose end was announced. */
  public KnownDone known() {
    return known;
  }

  /** What writes to the topic. */
  public OutcomeWriter writer() {
    return writer;
  }

  /** Starts to hear outcomes; returns once the recent ones are known, or after a while. */
  public void listen(OutcomeFeed.OutcomeListener to) throws InterruptedException {
    if (topic.isPresent()) {
      Consumer<byte[], byte[]> consumer = clients.outcomes();
      listener.opened(consumer);
      OutcomeFeed opened =
          new OutcomeFeed(consumer, topic.get(), origin, agreement, known, to, time);
      feed = opened;
      opened.start(READ_UP);
    }
  }

  /** Starts to announce this instance's store. */
  public void announce() {
    presence.ifPresent(PresenceBeat::start);
  }

  /** Whether what the others announce is heard at once. */
  public boolean areHeard() {
    OutcomeFeed opened = feed;
    return opened != null && opened.isLive();
  }

  /** When this zone last gave a sign of life; null if it never did. */
  public @Nullable Instant lastSignOf(String zone) {
    OutcomeFeed opened = feed;
    return opened == null ? null : opened.lastSignOf(zone);
  }

  /** Whether records may be taken: no other instance of the application uses another store. */
  public boolean isStoreAgreed() {
    return presence.isEmpty() || agreement.isReached();
  }

  /** Why no records may be taken; empty if they may. */
  public Optional<String> obstacle() {
    return presence.flatMap(_ -> agreement.obstacle());
  }

  /** How many other stores living instances of the application use. */
  public int otherStores() {
    return agreement.otherStores();
  }

  /** The other instances of the application; empty if that is not known. */
  public Optional<List<OtherInstance>> others() {
    return areHeard() ? agreement.others() : Optional.empty();
  }

  /** Says that this instance is gone, and sends what is left to be said. */
  public void finish(Duration limit) {
    presence.ifPresent(PresenceBeat::close);
    writer.finish(limit);
  }

  /** Hears no more outcomes. */
  public void close() {
    OutcomeFeed opened = feed;
    if (opened != null) {
      opened.close();
    }
  }
}
