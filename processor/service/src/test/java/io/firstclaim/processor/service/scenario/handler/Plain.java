package io.firstclaim.processor.service.scenario.handler;

import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;

/** A handler as a user writes it who does not. */
public final class Plain implements RecordHandler {
  @Override
  public HandlerResult handle(RecordContext context) {
    System.out.println("Plain has " + context.id().text());
    return HandlerResult.done();
  }
}
