package io.firstclaim.processor.service.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.setting.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DocumentedSettingsTest {
  private static String row(Setting<?> setting) {
    return "| `%s` | %s | %s |".formatted(setting.name(), setting.otherwise(), setting.meaning());
  }

  @Test
  void page_hasTheSettingsOfTheCode_withTheirDefaults() throws IOException {
    List<String> page = Files.readAllLines(Path.of("..", "..", "docs", "settings.md"));
    List<String> rows =
        Stream.concat(ServiceCatalog.all().stream(), ServiceCatalog.ofOthers().stream())
            .map(DocumentedSettingsTest::row)
            .toList();
    assertThat(page.stream().filter(line -> line.startsWith("| `")).toList())
        .as("the table of docs/settings.md; it should be%n%s", String.join("\n", rows))
        .isEqualTo(rows);
  }
}
