package io.firstclaim.processor.service.acts;

import io.firstclaim.lock.RecordId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Records of which operators have seen what must not have happened to them, as the log of acts
 * tells it: it needs no alert any more, and stays listed. Thread-safe.
 */
public final class Acknowledgements {
  /** How many are remembered: the oldest is forgotten first, and its alert begins again. */
  private static final int MOST = 10_000;

  private final Map<RecordId, ActMessage.Acknowledged> book =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<RecordId, ActMessage.Acknowledged> eldest) {
          return size() > MOST;
        }
      };

  /** Takes in what was said. */
  public synchronized void hear(ActMessage said) {
    if (said instanceof ActMessage.Acknowledged acknowledged) {
      var _ = book.putIfAbsent(RecordId.parse(acknowledged.record()), acknowledged);
    }
  }

  /** Who has seen it, and why it needs no alert; empty if nobody said so. */
  public synchronized Optional<ActMessage.Acknowledged> of(RecordId record) {
    return Optional.ofNullable(book.get(record));
  }
}
