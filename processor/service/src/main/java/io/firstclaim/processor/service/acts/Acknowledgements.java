package io.firstclaim.processor.service.acts;

import io.firstclaim.lock.RecordId;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Records of which operators have seen what must not have happened to them, as the log of acts
 * tells it: what had happened by then needs no alert any more, and stays listed. Thread-safe.
 */
public final class Acknowledgements {
  /** How many are remembered: the oldest is forgotten first, and its alert begins again. */
  private static final int MOST = 10_000;

  private final Duration maxSkew;

  /** The last of each record. */
  private final Map<RecordId, ActMessage.Acknowledged> book =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<RecordId, ActMessage.Acknowledged> eldest) {
          return size() > MOST;
        }
      };

  /**
   * Nothing is acknowledged yet.
   *
   * @param maxSkew by how much the clocks may differ by which violations and acts are dated
   */
  public Acknowledgements(Duration maxSkew) {
    this.maxSkew = maxSkew;
  }

  /** Takes in what was said. */
  public synchronized void hear(ActMessage said) {
    if (said instanceof ActMessage.Acknowledged acknowledged) {
      var _ = book.put(RecordId.parse(acknowledged.record()), acknowledged);
    }
  }

  /**
   * Who has seen what had happened to a record by this time, and why it needs no alert; empty if
   * nobody said so since.
   */
  public synchronized Optional<ActMessage.Acknowledged> of(RecordId record, Instant happened) {
    return Optional.ofNullable(book.get(record))
        .filter(said -> !Instant.parse(said.at()).isBefore(happened.minus(maxSkew)));
  }
}
