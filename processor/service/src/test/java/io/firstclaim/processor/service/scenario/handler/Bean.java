package io.firstclaim.processor.service.scenario.handler;

import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import jakarta.inject.Named;
import jakarta.inject.Singleton;

/** A handler as a user writes it who knows Micronaut. */
@Singleton
@Named("my-bean")
public final class Bean implements RecordHandler {
  @Override
  public HandlerResult handle(RecordContext context) {
    System.out.println("my-bean has " + context.id().text());
    return HandlerResult.done();
  }
}
