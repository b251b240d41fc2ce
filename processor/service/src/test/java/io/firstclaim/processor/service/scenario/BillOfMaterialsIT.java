package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What stands beside the package, for whoever has to know what it is made of. */
class BillOfMaterialsIT {
  @Test
  void theLibrariesOfThePackage_areListed_andNoneOfItsTests() throws IOException {
    Path file = Zone.JAR.resolveSibling("firstclaim-sbom.json");

    JsonNode bom = new ObjectMapper().readTree(file.toFile());

    assertThat(bom.path("bomFormat").asText()).isEqualTo("CycloneDX");
    assertThat(bom.path("components").findValuesAsText("name"))
        .contains("kafka-clients", "kafka-streams", "dynamodb", "s3", "firstclaim-engine")
        .doesNotContain("junit-jupiter", "assertj-core", "local-stack");
  }
}
