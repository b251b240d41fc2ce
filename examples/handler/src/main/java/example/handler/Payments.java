package example.handler;

import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;

/**
 * Chosen by {@code firstclaim.handler.type=Payments}, where {@code firstclaim.handler.path} names
 * the folder that its jar is in.
 */
public final class Payments implements RecordHandler {
  /** Made once for all records. */
  public Payments() {}

  @Override
  public HandlerResult handle(RecordContext payment) {
    if (payment.record().value() == null) {
      return new HandlerResult.Failed("a payment without a value");
    }
    payment.ensureHeld(); // right before the effect
    System.out.printf("paid %s, token %d%n", payment.id().text(), payment.token());
    return HandlerResult.done();
  }
}
