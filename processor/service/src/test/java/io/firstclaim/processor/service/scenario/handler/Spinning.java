package io.firstclaim.processor.service.scenario.handler;

import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;

/**
 * A handler that some records make compute for ever, whatever interrupts it: {@code spins-…} on its
 * own thread, {@code starves-…} on as many virtual ones as there are carriers.
 */
public final class Spinning implements RecordHandler {
  private static volatile boolean done;

  @Override
  public HandlerResult handle(RecordContext context) {
    String id = context.id().text();
    if (id.startsWith("spins")) {
      spin();
    } else if (id.startsWith("starves")) {
      for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
        Thread.startVirtualThread(Spinning::spin);
      }
      spin();
    }
    return HandlerResult.done();
  }

  private static void spin() {
    while (!done) {
      Thread.onSpinWait();
    }
  }
}
