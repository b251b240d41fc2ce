package io.firstclaim.processor.service.acts;

import io.firstclaim.lock.RecordId;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Records of which operators have seen what must not have happened to them, as the log of acts
 * tells it: it needs no alert any more, and stays listed. Thread-safe.
 */
public final class Acknowledgements {
  /** How many are remembered: the oldest is forgotten first, and its alert begins again. */
  private static final int MOST = 10_000;

  /** How many are remembered of one record. */
  private static final int MOST_OF_ONE = 10;

  private final Map<RecordId, List<ActMessage.Acknowledged>> book =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(
            Map.Entry<RecordId, List<ActMessage.Acknowledged>> eldest) {
          return size() > MOST;
        }
      };

  /** Takes in what was said. */
  public synchronized void hear(ActMessage said) {
    if (said instanceof ActMessage.Acknowledged acknowledged) {
      List<ActMessage.Acknowledged> ofRecord =
          book.computeIfAbsent(RecordId.parse(acknowledged.record()), _ -> new ArrayList<>());
      ofRecord.add(acknowledged);
      if (ofRecord.size() > MOST_OF_ONE) {
        ofRecord.removeFirst();
      }
    }
  }

  /**
   * Who has seen what had happened to a record by then, and why it needs no alert; empty if nobody
   * said so since.
   */
  public synchronized Optional<ActMessage.Acknowledged> of(RecordId record, Instant happened) {
    return book.getOrDefault(record, List.of()).stream()
        .filter(said -> isFrom(said, happened))
        .findFirst();
  }

  private static boolean isFrom(ActMessage.Acknowledged said, Instant happened) {
    try {
      return !Instant.parse(said.at()).isBefore(happened);
    } catch (DateTimeException e) {
      return false; // whoever may write to the topic may write anything
    }
  }
}
