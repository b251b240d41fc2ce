package io.firstclaim.templates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.firstclaim.templates.CloudFormation.Property;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/**
 * Compares what is written out in {@link CloudFormation} with what AWS's CDK is made from. That is
 * not in this tree; whoever wants to compare gets it by npm:
 *
 * <pre>{@code
 * npm pack @aws-cdk/aws-service-spec && tar -xzf aws-cdk-aws-service-spec-*.tgz
 * mvn verify -pl docker/templates -am -Dtest=CloudFormationTest -Dit.test=none \
 *   -Dsurefire.failIfNoSpecifiedTests=false -Dfailsafe.failIfNoSpecifiedTests=false \
 *   -Dservice.spec=$PWD/package/db.json.gz
 * }</pre>
 */
class CloudFormationTest {
  private final Map<String, JsonNode> structures = new HashMap<>();
  private final List<String> differences = new ArrayList<>();

  @Test
  void everyResourceType_isAsTheServiceSpecificationHasIt() throws IOException {
    String file = System.getProperty("service.spec", "");
    assumeTrue(!file.isEmpty(), "there is no -Dservice.spec");
    JsonNode all;
    try (var in = new GZIPInputStream(Files.newInputStream(Path.of(file)))) {
      all = JsonMapper.builder().build().readTree(in).path("schema");
    }
    all.at("/typeDefinition/entities")
        .forEach(each -> structures.put(each.path("$id").asText(), each));
    Map<String, JsonNode> types = new HashMap<>();
    all.at("/resource/entities")
        .forEach(each -> types.put(each.path("cloudFormationType").asText(), each));

    for (var ours : CloudFormation.ATTRIBUTES.entrySet()) {
      Set<String> theirs = new TreeSet<>();
      named(types, ours.getKey()).path("attributes").fieldNames().forEachRemaining(theirs::add);
      // Those of a structure in it have a dot.
      theirs.removeIf(each -> each.contains("."));
      assertThat(ours.getValue()).as(ours.getKey()).isEqualTo(theirs);
    }
    List<String> names =
        CloudFormation.STRUCTURES.keySet().stream().filter(each -> each.contains("::")).toList();
    assertThat(names).hasSize(6);
    names.forEach(each -> compare(each, each, named(types, each)));
    assertThat(differences).isEmpty();
  }

  private static JsonNode named(Map<String, JsonNode> all, String key) {
    return all.getOrDefault(key, MissingNode.getInstance());
  }

  private void compare(String place, String name, JsonNode theirs) {
    Map<String, Property> ours = CloudFormation.STRUCTURES.getOrDefault(name, Map.of());
    Set<String> properties = new TreeSet<>(ours.keySet());
    theirs.path("properties").fieldNames().forEachRemaining(properties::add);
    for (String each : properties) {
      Property our = ours.get(each);
      JsonNode their = theirs.path("properties").path(each);
      if (our == null || their.isMissingNode()) {
        differences.add("%s.%s is %s".formatted(place, each, our == null ? "theirs" : "ours"));
        continue;
      }
      if (our.required() != their.path("required").asBoolean()) {
        differences.add("%s.%s is required: %s".formatted(place, each, !our.required()));
      }
      if (our.type() != null) {
        compareTypes(place + "." + each, our.type(), their.path("type"));
      }
    }
  }

  private void compareTypes(String place, String our, JsonNode their) {
    String kind = their.path("type").asText();
    boolean same =
        switch (our) {
          case "any" -> true;
          case "text" -> kind.equals("string");
          case "boolean", "integer", "number" -> kind.equals(our);
          case "texts" ->
              kind.equals("array") && their.at("/element/type").asText().equals("string");
          default -> compareOthers(place, our, their, kind);
        };
    if (!same) {
      differences.add("%s is %s, not %s".formatted(place, their, our));
    }
  }

  private boolean compareOthers(String place, String our, JsonNode their, String kind) {
    if (kind.equals("union")) { // one of several, of which ours is one
      for (JsonNode each : their.path("types")) {
        if (each.path("type").asText().equals(our.startsWith("[") ? "array" : "json")) {
          compareTypes(place, our, each);
          return true;
        }
      }
      return false;
    }
    if (our.startsWith("[")) {
      compareTypes(place, our.substring(1, our.length() - 1), their.path("element"));
      return kind.equals("array");
    }
    if (CloudFormation.STRUCTURES.containsKey(our)) {
      if (kind.equals("ref")) {
        compare(place, our, named(structures, their.at("/reference/$ref").asText()));
      }
      // Of a policy, they say no more.
      return kind.equals("ref") || (kind.equals("json") && our.endsWith("PolicyDocument"));
    }
    Set<String> words = new TreeSet<>();
    their.path("allowedValues").forEach(each -> words.add(each.asText()));
    // Some words are in the documentation alone.
    return kind.equals("string")
        && (words.isEmpty()
            || words.equals(new TreeSet<>(List.of(our.split(Pattern.quote("|"), -1)))));
  }
}
