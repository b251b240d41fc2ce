package io.firstclaim.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LedgerTest {
  private final Ledger ledger = new Ledger(List.of(new Event("1", "{}"), new Event("2", "{}")));

  @Test
  void isDelivered_onceEveryEventWas() {
    for (Ledger.Entry entry : ledger.entries()) {
      assertThat(ledger.isDelivered()).isFalse();
      var _ = entry.delivered();
      var _ = entry.delivered();
    }
    assertThat(ledger.isDelivered()).isTrue();
  }
}
