package example.spring;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.spring.Deduplicated;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Component;

/** Pays, which here is a line in the zone's ledger: payment and amount. */
@Component
public class Payments {
  private final Path ledger;

  /** Payments that are written to this file. */
  public Payments(@Value("${ledger}") Path ledger) {
    this.ledger = ledger;
  }

  /** Pays once, in whichever zone comes first. */
  @KafkaListener(topics = "payments", groupId = "shop-${zone}")
  @Deduplicated(name = "payments", id = "header:payment-id")
  public void pay(String amount, @Header("payment-id") byte[] id) throws IOException {
    Files.writeString(
        ledger,
        "%s %s%n".formatted(new String(id, UTF_8), amount),
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }
}
