package io.firstclaim.processor.service.scenario.handler;

import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import java.util.concurrent.locks.LockSupport;

/**
 * A handler that some records keep for ever, whatever interrupts it: {@code idles-…} does nothing,
 * {@code spins-…} computes on its own thread, {@code starves-…} on as many virtual ones as there
 * are carriers.
 */
public final class Heedless implements RecordHandler {
  private static volatile boolean done;

  @Override
  public HandlerResult handle(RecordContext context) {
    String id = context.id().text();
    if (id.startsWith("spins")) {
      spin();
    } else if (id.startsWith("starves")) {
      for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
        Thread.startVirtualThread(Heedless::spin);
      }
      spin();
    } else if (id.startsWith("idles")) {
      idle();
    }
    return HandlerResult.done();
  }

  private static void idle() {
    while (!done) {
      LockSupport.park();
      boolean _ = Thread.interrupted(); // else it would spin
    }
  }

  private static void spin() {
    while (!done) {
      Thread.onSpinWait();
    }
  }
}
