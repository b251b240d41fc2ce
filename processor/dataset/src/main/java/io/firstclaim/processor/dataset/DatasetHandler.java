package io.firstclaim.processor.dataset;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.document.OutcomeUnknownException;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Makes each record's value, byte for byte, a file of a dataset, in the partition of its topic and
 * of the day (UTC) of its timestamp. A record without a value makes an empty file.
 *
 * <p>A record that comes again finds its file: it is done if the content is the same, and {@link
 * HandlerResult.Failed} if not. So a source that delivers a record again must keep its timestamp,
 * or an attempt that died after it had written may leave a second file, on another day. A record
 * without a timestamp is {@link HandlerResult.Failed}. If S3 does not answer or refuses, if the
 * root of the dataset is none, or if others were always faster to write it, that says nothing of
 * the record and is {@link HandlerResult.Unavailable}. Thread-safe.
 */
public final class DatasetHandler implements RecordHandler {
  private static final byte[] EMPTY = {};

  private final Dataset dataset;
  private final Runnable opened;

  /**
   * A handler that stores in this dataset.
   *
   * @param opened run once the dataset turns out to be ready
   */
  public DatasetHandler(Dataset dataset, Runnable opened) {
    this.dataset = dataset;
    this.opened = opened;
  }

  @Override
  public void open() {
    dataset.verify();
    opened.run();
  }

  @Override
  public HandlerResult handle(RecordContext context) throws InterruptedException {
    ConsumerRecord<byte[], byte[]> record = context.record();
    byte @Nullable [] value = record.value();
    try {
      StoreResult result =
          dataset.store(
              record.topic(),
              record.timestamp(),
              context.id(),
              value == null ? EMPTY : value,
              context::ensureHeld);
      return switch (result) {
        case StoreResult.Listed _ -> HandlerResult.done();
        case StoreResult.Rejected(String cause) -> new HandlerResult.Failed(cause);
      };
    } catch (StoreUnavailableException
        | StoreRefusedException
        | UnreadableException
        | OutcomeUnknownException
        | ContendedException e) {
      return HandlerResult.unavailable(String.valueOf(e.getMessage()), Duration.ZERO);
    }
  }
}
