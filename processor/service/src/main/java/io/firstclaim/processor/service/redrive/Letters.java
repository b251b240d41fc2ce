package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.service.acts.Range;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** Dead letters, as they are in their topics. Thread-safe. */
interface Letters {
  /**
   * The topics as they stand now.
   *
   * @param topics of dead letters
   * @param since leaves out what was written before; null for nothing
   * @throws KafkaException if they cannot be asked
   */
  List<Range> ranges(Collection<String> topics, @Nullable Instant since);

  /** Reads these ranges one after the other, from this position on. */
  Reading read(List<Range> ranges, Position from);

  /** A reading, for one thread. */
  interface Reading extends AutoCloseable {
    /**
     * Reads on.
     *
     * @throws KafkaException if the broker does not answer: ask again
     */
    ReadResult next();

    /** The position up to which everything has been read. */
    Position position();

    /** Whether everything has been read. */
    boolean isAtEnd();

    @Override
    void close();
  }

  /** What came of reading on. */
  sealed interface ReadResult {
    /**
     * A dead letter was read.
     *
     * @param at the position of whoever has not read it yet
     */
    record Letter(Position at, DeadLetter letter) implements ReadResult {}

    /** What is there is no dead letter, or not there any more: it has been passed over. */
    record PassedOver() implements ReadResult {}

    /** There is nothing now: it may come, unless the reading is at its end. */
    record Nothing() implements ReadResult {}
  }
}
