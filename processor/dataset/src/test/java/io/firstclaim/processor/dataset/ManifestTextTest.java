package io.firstclaim.processor.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ManifestTextTest {
  private static final String ORDERS = "datasets/orders/year=2026/month=07/day=04";
  private static final String NAME = "%064x".formatted(1);
  private static final ListedFile FILE =
      new ListedFile(
          new DatasetFile(ORDERS, NAME, 10),
          "%064x".formatted(0xabc),
          "order \"1\"",
          Instant.parse("2026-07-04T12:00:00Z"));
  private static final ListedFile BARE =
      ListedFile.of(new DatasetFile(ORDERS, "%064x".formatted(2), 0));

  @Test
  void text_hasALineForEachFile() {
    assertThat(ManifestText.of(ORDERS, List.of(FILE, BARE)))
        .asString(UTF_8)
        .isEqualTo(
            """
            {"schemaVersion":2,"partition":"%s","files":2,"bytes":10}
            {"name":"%s","bytes":10,"sha256":"%064x","id":"order \\"1\\"",\
            "timestamp":"2026-07-04T12:00:00Z"}
            {"name":"%064x","bytes":0}
            """
                .formatted(ORDERS, NAME, 0xabc, 2));
  }

  @Test
  void text_isReadBack() {
    assertThat(ManifestText.parse(ORDERS, ManifestText.of(ORDERS, List.of(FILE, BARE))))
        .containsExactly(FILE, BARE);
  }

  @Test
  void longId_isLeftOut() {
    ListedFile longer = new ListedFile(FILE.file(), FILE.sha256(), "x".repeat(201), null);

    assertThat(ManifestText.parse(ORDERS, ManifestText.of(ORDERS, List.of(longer))))
        .containsExactly(new ListedFile(FILE.file(), FILE.sha256(), null, null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "{\"schemaVersion\":2,\"partition\":\"datasets/other/year=2026/month=07/day=04\"}",
        "{\"schemaVersion\":2,\"partition\":\"datasets/orders/year=2026/month=07/day=04\","
            + "\"files\":1}",
        "{\"schemaVersion\":2,\"partition\":\"datasets/orders/year=2026/month=07/day=04\","
            + "\"files\":1}\n{\"name\":\"../x\",\"bytes\":1}",
        "{\"schemaVersion\":2,\"partition\":\"datasets/orders/year=2026/month=07/day=04\","
            + "\"files\":1}\n[",
      })
  void textThatIsNoManifest_isRefused(String text) {
    assertThatThrownBy(() -> ManifestText.parse(ORDERS, text.getBytes(UTF_8)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
