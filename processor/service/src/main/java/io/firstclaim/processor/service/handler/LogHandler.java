package io.firstclaim.processor.service.handler;

import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs one line for each record, at level INFO: where it came from, how large it is, and the
 * attempt. Of its contents only the ID is logged, escaped. Thread-safe.
 */
public final class LogHandler implements RecordHandler {
  private static final Logger LOG = LoggerFactory.getLogger(LogHandler.class);

  @Override
  public HandlerResult handle(RecordContext context) {
    ConsumerRecord<byte[], byte[]> record = context.record();
    LOG.info(
        "Record {} from {}-{}@{}: {}, attempt {}, token {}",
        context.id().text(),
        record.topic(),
        record.partition(),
        record.offset(),
        record.value() == null ? "no value" : record.value().length + " bytes",
        context.attempt(),
        context.token());
    return HandlerResult.done();
  }
}
