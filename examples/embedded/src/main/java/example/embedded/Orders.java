package example.embedded;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.handler.HandlerResult;

/** Handles each order once, in this process. */
final class Orders {
  private Orders() {}

  public static void main(String[] args) throws InterruptedException {
    Engine engine =
        Engine.builder()
            .application("orders")
            .zone("a")
            .topics("orders")
            .recordId("header:ce_id,key")
            .bootstrapServers(args[0])
            .store(claims -> new MemoryClaimStore(claims, TimeSource.system()))
            .handler(
                order -> {
                  System.out.println("shipped " + order.id().text());
                  return HandlerResult.done();
                })
            .build();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(engine)));
    engine.start();
  }

  private static void stop(Engine engine) {
    try {
      engine.stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
