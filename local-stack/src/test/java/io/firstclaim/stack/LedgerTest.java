package io.firstclaim.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LedgerTest {
  private final Ledger ledger = new Ledger(List.of(new Event("1", "{}"), new Event("2", "{}")));

  @Test
  void isPublished_onceEveryEventWas() {
    for (Ledger.Entry entry : ledger.entries()) {
      assertThat(ledger.isPublished()).isFalse();
      var _ = entry.published();
      var _ = entry.published();
    }
    assertThat(ledger.isPublished()).isTrue();
  }
}
