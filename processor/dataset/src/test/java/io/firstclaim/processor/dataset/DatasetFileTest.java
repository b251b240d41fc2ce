package io.firstclaim.processor.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.RecordId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DatasetFileTest {
  private static final RecordId ID = RecordId.of("order-1");

  private static DatasetFile at(String instant) {
    return DatasetFile.of("orders.v1", Instant.parse(instant).toEpochMilli(), ID, 7);
  }

  @ParameterizedTest
  @CsvSource({
    "1970-01-01T00:00:00Z,year=1970/month=01/day=01",
    "2026-07-04T23:59:59.999Z,year=2026/month=07/day=04",
    "2026-07-05T00:00:00Z,year=2026/month=07/day=05",
    "9999-12-31T23:59:59.999Z,year=9999/month=12/day=31"
  })
  void partition_isTheTopic_andTheDayOfTheTimestampInUtc(String instant, String day) {
    assertThat(at(instant).partition()).isEqualTo("datasets/orders.v1/" + day);
  }

  @Test
  void path_isReadBack() {
    DatasetFile file = at("2026-07-04T12:00:00Z");

    assertThat(DatasetFile.parse(file.path(), 7)).contains(file);
  }

  @ParameterizedTest
  @ValueSource(strings = {"../../x", "a/b", "\0", "\r\nX: y", "%2e%2e%2f", "é", "."})
  void id_neverReachesThePath(String hostile) {
    byte[] id = hostile.getBytes(StandardCharsets.UTF_8);

    assertThat(DatasetFile.of("t", 0, RecordId.of(id), 0).path())
        .matches("datasets/t/year=1970/month=01/day=01/[0-9a-f]{64}");
  }

  @Test
  void otherId_isAnotherFile() {
    assertThat(DatasetFile.of("t", 0, RecordId.of("a"), 0))
        .isNotEqualTo(DatasetFile.of("t", 0, RecordId.of("b"), 0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a/b", "a b", "a\n", "ü"})
  void topicThatIsNone_isRefused_andNotShown(String topic) {
    assertThatThrownBy(() -> DatasetFile.of(topic, 0, ID, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "a topic has 1 to 249 of a-z A-Z 0-9 . _ -; that of this record, of %d, cannot be a folder"
                .formatted(topic.length()));
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE, 253_402_300_800_000L, Long.MAX_VALUE})
  void timestampThatIsNoDay_isRefused(long timestamp) {
    assertThatThrownBy(() -> DatasetFile.of("t", timestamp, ID, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith(timestamp + " ms is not from 1970 to 9999");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "datasets/t/year=2026/month=07/day=04/README.md",
        "datasets/t/year=2026/month=07/",
        "metastore/dataset_registry.json",
        "datasets/t/x/year=2026/month=07/day=04/"
            + "0000000000000000000000000000000000000000000000000000000000000000"
      })
  void otherObject_isNoFile(String path) {
    assertThat(DatasetFile.parse(path, 1)).isEmpty();
  }
}
