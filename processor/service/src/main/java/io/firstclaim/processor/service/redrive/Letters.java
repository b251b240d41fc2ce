package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.service.acts.Range;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Dead letters, as they are in their topics. Thread-safe. */
public interface Letters {
  /**
   * The topics as they stand now.
   *
   * @param topics of dead letters
   * @param since leaves out what was written before; null for nothing
   */
  List<Range> ranges(Collection<String> topics, @Nullable Instant since);

  /**
   * Reads these ranges one after the other.
   *
   * @param range where to begin: which of them
   * @param offset where to begin: the first offset in it
   */
  Reading read(List<Range> ranges, int range, long offset);

  /**
   * A reading; for one thread. Faults of Kafka that pass come out as {@link
   * org.apache.kafka.common.KafkaException}.
   */
  interface Reading extends AutoCloseable {
    /**
     * Goes to the next offset.
     *
     * @return false if it may be there later: ask again, unless {@link #isAtEnd}
     */
    boolean next();

    /** What is there; empty if it is no dead letter. */
    Optional<DeadLetter> letter();

    /** Which range the reading is in. */
    int range();

    /** Where in it {@link #next} goes, at least. */
    long offset();

    /** Whether everything has been read. */
    boolean isAtEnd();

    @Override
    void close();
  }
}
