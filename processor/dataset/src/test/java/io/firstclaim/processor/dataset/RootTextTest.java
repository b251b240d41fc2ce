package io.firstclaim.processor.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.processor.dataset.RootText.Found;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RootTextTest {
  private static final Instant NOON = Instant.parse("2026-07-04T12:00:00Z");
  private static final String ORDERS = "datasets/orders/year=2026/month=07/day=04";
  private static final String PAYMENTS = "datasets/payments/year=2026/month=07/day=05";

  private static Manifest manifest(int number, long files, long bytes, long found) {
    return new Manifest("%032x".formatted(number), files, bytes, -number, found);
  }

  private static Root root() {
    return new Root(7, NOON, Root.empty(NOON).partitions())
        .with(PAYMENTS, List.of(), List.of(manifest(3, 1, 0, 0)), NOON)
        .with(ORDERS, List.of(), List.of(manifest(1, 2, 20, 0), manifest(2, 1, 10, 6)), NOON);
  }

  @Test
  void text_hasTheCounts_andALineForEachPartitionAndManifest() {
    assertThat(RootText.of(root()))
        .isEqualTo(
            """
            {"schemaVersion": 2, "version": 7, "updatedAt": "2026-07-04T12:00:00Z", \
            "files": 4, "bytes": 30, "partitions": [
            {"partition": "%s", "files": 3, "bytes": 30, "updatedAt": "2026-07-04T12:00:00Z", \
            "manifests": [
            {"name": "%032x", "files": 2, "bytes": 20, "names": "ffffffffffffffff"},
            {"name": "%032x", "files": 1, "bytes": 10, "names": "fffffffffffffffe", "found": 6}]},
            {"partition": "%s", "files": 1, "bytes": 0, "updatedAt": "2026-07-04T12:00:00Z", \
            "manifests": [
            {"name": "%032x", "files": 1, "bytes": 0, "names": "fffffffffffffffd"}]}]}\
            """
                .formatted(ORDERS, 1, 2, PAYMENTS, 3));
  }

  @Test
  void text_isReadBack() {
    assertThat(RootText.parse(RootText.of(root()))).isEqualTo(new Found.Current(root()));
    assertThat(RootText.parse(RootText.of(Root.empty(NOON))))
        .isEqualTo(new Found.Current(Root.empty(NOON)));
  }

  @Test
  void lastManifestOfAPartition_takesItAlong() {
    assertThat(root().with(PAYMENTS, List.of(manifest(3, 1, 0, 0)), List.of(), NOON).partitions())
        .containsOnlyKeys(ORDERS);
  }

  @Test
  void merge_leavesTheTimeOfItsPartition() {
    Root later = new Root(8, NOON.plusSeconds(5), root().partitions());

    Root merged = later.merged(ORDERS, root().manifests(ORDERS), List.of(manifest(4, 3, 30, 6)));

    assertThat(merged.partitions().get(ORDERS))
        .isEqualTo(new Root.Partition(NOON, List.of(manifest(4, 3, 30, 6))));
  }

  @Test
  void registryOfVersionOne_isRead() {
    String name = "%064x".formatted(1);
    assertThat(
            RootText.parse(
                """
                {"updatedAt":"2026-07-04T12:00:00Z","files":1,"bytes":10,"partitions":\
                {"%s":{"files":1,"bytes":10,"sizes":{"%s":10}}}}\
                """
                    .formatted(ORDERS, name)))
        .isEqualTo(new Found.VersionOne(List.of(new DatasetFile(ORDERS, name, 10))));
  }

  @Test
  void laterVersion_isRefused_withTheRemedy() {
    assertThatThrownBy(() -> RootText.parse("{\"schemaVersion\":3}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("schema version 3")
        .hasMessageContaining("update it");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "[]",
        "{}",
        "{\"partitions\":[]}",
        "{\"schemaVersion\":2}",
        "{\"schemaVersion\":2,\"partitions\":[]}",
        "{\"schemaVersion\":2,\"version\":-1,\"updatedAt\":\"2026-07-04T12:00:00Z\","
            + "\"partitions\":[]}",
        "{\"schemaVersion\":2,\"version\":1,\"updatedAt\":\"2026-07-04T12:00:00Z\","
            + "\"partitions\":[{\"partition\":\"../x\"}]}",
        "{\"schemaVersion\":2,\"version\":1,\"updatedAt\":\"2026-07-04T12:00:00Z\","
            + "\"partitions\":[{\"partition\":\"datasets/t/year=2026/month=07/day=04\","
            + "\"updatedAt\":\"2026-07-04T12:00:00Z\",\"manifests\":[]}]}",
        "{\"schemaVersion\":2,\"version\":1,\"updatedAt\":\"2026-07-04T12:00:00Z\","
            + "\"partitions\":[{\"partition\":\"datasets/t/year=2026/month=07/day=04\","
            + "\"updatedAt\":\"2026-07-04T12:00:00Z\",\"manifests\":[{\"name\":\"../x\"}]}]}",
        "{\"partitions\":{\"../x\":{\"sizes\":{\"a\":1}}}}",
        "{\"partitions\":{\"datasets/t/year=2026/month=07/day=04\":{\"sizes\":"
            + "{\"0000000000000000000000000000000000000000000000000000000000000000\":\"1\"}}}}"
      })
  void textThatIsNoRoot_isRefused(String text) {
    assertThatThrownBy(() -> RootText.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
