package example.shop;

import io.firstclaim.micronaut.Deduplicated;
import io.micronaut.configuration.kafka.annotation.Topic;
import io.micronaut.messaging.annotation.MessageHeader;

/** Pays each payment once, in whichever zone. */
@Keeping
class Payments {
  private final Receipts receipts;

  Payments(Receipts receipts) {
    this.receipts = receipts;
  }

  @Topic("payments")
  @Deduplicated(name = "payments", id = "header:payment-id")
  void pay(@MessageHeader("payment-id") String payment, String amount) {
    receipts.send(payment, amount);
  }
}
