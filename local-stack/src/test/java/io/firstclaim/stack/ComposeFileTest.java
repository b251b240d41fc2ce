package io.firstclaim.stack;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonMetaSchema;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.NonValidationKeyword;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The container stack's files, as far as they can be judged without containers. */
class ComposeFileTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Path DOCKER = Path.of("../docker");
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{\\w+:?-([^}]*)}");
  private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

  private final JsonNode file = yaml(DOCKER.resolve("compose.yaml"));

  @Test
  void composeFile_keepsTheSchema() throws IOException {
    ObjectNode known = file.deepCopy();
    known.remove("name"); // younger than the schema at hand
    try (InputStream in = ComposeFileTest.class.getResourceAsStream("compose-spec.json")) {
      // The schema says "id" where its draft says "$id".
      JsonMetaSchema draft =
          JsonMetaSchema.builder(JsonMetaSchema.getV201909())
              .keyword(new NonValidationKeyword("id"))
              .build();
      JsonSchema schema =
          JsonSchemaFactory.builder()
              .defaultMetaSchemaIri(draft.getIri())
              .metaSchema(draft)
              .build()
              .getSchema(Objects.requireNonNull(in));
      assertThat(schema.validate(known)).isEmpty();
    }
  }

  @Test
  void everyImage_isPinned() {
    assertThat(services())
        .allSatisfy(
            service -> assertThat(service.path("image").asText()).matches(".+:v?\\d+(\\.\\d+)+"));
  }

  @Test
  void everyPort_isOnLoopback() {
    assertThat(services().flatMap(service -> stream(service.path("ports"))).map(JsonNode::asText))
        .isNotEmpty()
        .allMatch(port -> port.startsWith("127.0.0.1:"));
  }

  @Test
  void eachProcessor_isInItsZonesNetworkOnly() {
    for (String zone : List.of("a", "b")) {
      JsonNode service = file.path("services").path("processor-" + zone);
      assertThat(service.path("networks")).map(JsonNode::asText).containsExactly("zone-" + zone);
      assertThat(service.path("environment").path("FIRSTCLAIM_ZONE").asText()).isEqualTo(zone);
    }
  }

  @Test
  void whoeverNeedsAToken_waitsUntilTheyAreMade_andCannotChangeThem() {
    for (String name : List.of("processor-a", "processor-b", "prometheus")) {
      JsonNode service = file.path("services").path(name);
      assertThat(service.at("/depends_on/tokens/condition").asText())
          .isEqualTo("service_completed_successfully");
      assertThat(service.path("volumes")).map(JsonNode::asText).contains("tokens:/tokens:ro");
    }
  }

  @Test
  void processors_askForTokens() {
    for (String zone : List.of("a", "b")) {
      JsonNode environment = file.path("services").path("processor-" + zone).path("environment");
      assertThat(environment.path("FIRSTCLAIM_ADMIN_TOKEN_FILE").asText())
          .isEqualTo("/tokens/token-file");
    }
    assertThat(
            yaml(DOCKER.resolve("prometheus/prometheus.yml"))
                .at("/scrape_configs/0/authorization/credentials_file")
                .asText())
        .isEqualTo("/tokens/prometheus");
  }

  @Test
  void whoeverOpensGrafana_mayLook_andNobodyIsItsAdministrator() {
    JsonNode environment = file.path("services").path("grafana").path("environment");
    assertThat(environment.path("GF_AUTH_ANONYMOUS_ORG_ROLE").asText()).isEqualTo("Viewer");
    assertThat(environment.path("GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION").asText())
        .isEqualTo("true");
  }

  /** A module that is left out of the image's context breaks the build from a plain checkout. */
  @Test
  void everyModule_isInTheImagesContext() throws IOException {
    List<String> context = Files.readAllLines(Path.of("../.dockerignore"));
    Matcher modules = MODULE.matcher(Files.readString(Path.of("../pom.xml")));
    assertThat(modules.results().map(module -> "!" + module.group(1)))
        .isNotEmpty()
        .allMatch(context::contains);
  }

  private Stream<JsonNode> services() {
    return stream(file.path("services"));
  }

  private static Stream<JsonNode> stream(JsonNode node) {
    return node.valueStream();
  }

  static JsonNode yaml(Path path) {
    try {
      String withDefaults = VARIABLE.matcher(Files.readString(path)).replaceAll("$1");
      return JSON.valueToTree(
          new Yaml(new SafeConstructor(new LoaderOptions())).<Object>load(withDefaults));
    } catch (IOException e) {
      throw new IllegalStateException(path + " cannot be read", e);
    }
  }
}
