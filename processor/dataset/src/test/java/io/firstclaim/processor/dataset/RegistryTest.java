package io.firstclaim.processor.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegistryTest {
  private static final Instant NOW = Instant.parse("2026-07-04T12:00:00Z");
  private static final String ORDERS = "datasets/orders/year=2026/month=07/day=04";
  private static final String PAYMENTS = "datasets/payments/year=2026/month=07/day=05";

  private static DatasetFile file(String partition, int number, long bytes) {
    return new DatasetFile(partition, "%064x".formatted(number), bytes);
  }

  @Test
  void text_hasTheCounts_inAllAndByPartition() {
    Registry registry = new Registry();
    registry.add(file(PAYMENTS, 3, 0));
    registry.add(file(ORDERS, 2, 20));
    registry.add(file(ORDERS, 1, 10));

    assertThat(registry.text(NOW))
        .isEqualTo(
            """
            {"updatedAt":"2026-07-04T12:00:00Z","files":3,"bytes":30,"partitions":{\
            "%s":{"files":2,"bytes":30,"sizes":{"%064x":10,"%064x":20}},\
            "%s":{"files":1,"bytes":0,"sizes":{"%064x":0}}}}"""
                .formatted(ORDERS, 1, 2, PAYMENTS, 3));
  }

  @Test
  void text_isReadBack() {
    Registry registry = new Registry();
    registry.add(file(ORDERS, 1, 10));
    registry.add(file(PAYMENTS, 2, 1L << 40));

    assertThat(Registry.parse(registry.text(NOW)).files())
        .containsExactly(file(ORDERS, 1, 10), file(PAYMENTS, 2, 1L << 40));
    assertThat(Registry.parse(new Registry().text(NOW)).files()).isEmpty();
  }

  @Test
  void fileListedTwice_countsOnce() {
    Registry registry = new Registry();

    assertThat(registry.add(file(ORDERS, 1, 10))).isTrue();
    assertThat(registry.add(file(ORDERS, 1, 10))).isFalse();

    assertThat(registry.text(NOW)).contains("\"files\":1,\"bytes\":10,");
  }

  @Test
  void otherSizeOfAListedFile_isAChange() {
    Registry registry = new Registry();
    registry.add(file(ORDERS, 1, 10));

    assertThat(registry.add(file(ORDERS, 1, 11))).isTrue();

    assertThat(registry.files()).containsExactly(file(ORDERS, 1, 11));
  }

  @Test
  void lastFileOfAPartition_takesItAlong() {
    Registry registry = new Registry();
    registry.add(file(ORDERS, 1, 10));

    assertThat(registry.remove(file(ORDERS, 1, 10))).isTrue();
    assertThat(registry.remove(file(ORDERS, 1, 10))).isFalse();

    assertThat(registry.text(NOW)).endsWith("\"files\":0,\"bytes\":0,\"partitions\":{}}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "[]",
        "{}",
        "{\"partitions\":[]}",
        "{\"partitions\":{\"../x\":{\"sizes\":{\"a\":1}}}}",
        "{\"partitions\":{\"datasets/t/year=2026/month=07/day=04\":{\"sizes\":"
            + "{\"0000000000000000000000000000000000000000000000000000000000000000\":\"1\"}}}}"
      })
  void textThatIsNoRegistry_isRefused(String text) {
    assertThatThrownBy(() -> Registry.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
