package io.firstclaim.templates;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.marcnuri.helm.Helm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The chart, as Helm renders it. */
final class Chart {
  static final Path FOLDER = Path.of("../kubernetes/chart");
  static final String RELEASE = "firstclaim";
  static final String NAMESPACE = "default";

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private Chart() {}

  /**
   * What Helm makes of the default values and these.
   *
   * @param values in YAML; none if empty
   * @throws IllegalStateException if the chart refuses them, with what it says
   */
  static String text(String values) {
    return text(RELEASE, values);
  }

  private static String text(String release, String values) {
    try {
      Path file = Files.createTempFile("values", ".yaml");
      try {
        Files.writeString(file, values);
        return new Helm(FOLDER)
            .template()
            .withName(release)
            .withNamespace(NAMESPACE)
            .withKubeVersion("1.33.0")
            .withValuesFile(file)
            .call();
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<JsonNode> objects(String values) {
    return objects(RELEASE, values);
  }

  static List<JsonNode> objects(String release, String values) {
    return parse(text(release, values));
  }

  /** The documents of a YAML file. */
  static List<JsonNode> parse(String yaml) {
    List<JsonNode> objects = new ArrayList<>();
    for (Object each : new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(yaml)) {
      if (each != null) {
        objects.add(JSON.valueToTree(each));
      }
    }
    return objects;
  }

  static List<JsonNode> of(String kind, List<JsonNode> objects) {
    return objects.stream().filter(object -> object.path("kind").asText().equals(kind)).toList();
  }
}
