package io.firstclaim.templates;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.AbstractConstruct;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/**
 * A template of CloudFormation, with the functions that ours use. Their short form, {@code !Sub x},
 * is read as their long one, {@code {"Fn::Sub": x}}.
 *
 * @param tree as it is written
 */
record Template(String name, JsonNode tree) {
  static final Path FOLDER = Path.of("../aws");

  /** Where a stack is, in these tests. */
  static final Map<String, String> PSEUDO =
      Map.of(
          "AWS::AccountId", "123456789012",
          "AWS::Partition", "aws",
          "AWS::Region", "eu-central-1");

  private static final String NO_VALUE = "AWS::NoValue";
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** A variable of {@code Fn::Sub}; one that begins with an exclamation mark is none. */
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^!}][^}]*)}");

  static List<Template> all() throws IOException {
    try (var files = Files.list(FOLDER)) {
      return files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(file -> file.endsWith(".yaml"))
          .sorted()
          .map(Template::of)
          .toList();
    }
  }

  static Template of(String name) {
    try {
      return parse(name, Files.readString(FOLDER.resolve(name)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Template parse(String name, String yaml) {
    LoaderOptions options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    return new Template(name, JSON.valueToTree(new Yaml(new Tags(options)).load(yaml)));
  }

  /** Reads the short forms of functions. */
  private static final class Tags extends SafeConstructor {
    Tags(LoaderOptions options) {
      super(options);
      yamlMultiConstructors.put(
          "!",
          new AbstractConstruct() {
            @Override
            public Object construct(Node node) {
              String function = node.getTag().getValue().substring(1);
              Object argument =
                  switch (node) {
                    case ScalarNode scalar -> constructScalar(scalar);
                    case SequenceNode list -> constructSequence(list);
                    case MappingNode map -> constructMapping(map);
                    default -> throw new IllegalArgumentException("what is " + node);
                  };
              return switch (function) {
                case "Ref" -> Map.of("Ref", argument);
                case "Condition" -> Map.of("Condition", argument);
                case "GetAtt" ->
                    Map.of("Fn::GetAtt", List.of(String.valueOf(argument).split("\\.", 2)));
                default -> Map.of("Fn::" + function, argument);
              };
            }
          });
    }
  }

  JsonNode resources() {
    return tree.path("Resources");
  }

  /** What refers to nothing, and which parameters and conditions nothing refers to. */
  List<String> danglingReferences() {
    List<String> faults = new ArrayList<>();
    Set<String> unused = new HashSet<>();
    tree.path("Parameters").fieldNames().forEachRemaining(unused::add);
    tree.path("Conditions").fieldNames().forEachRemaining(unused::add);
    for (Reference each : references(tree)) {
      unused.remove(each.name());
      if (!isThere(each)) {
        faults.add("%s: %s %s refers to nothing".formatted(name, each.function(), each.name()));
      }
    }
    unused.forEach(each -> faults.add("%s: nothing refers to %s".formatted(name, each)));
    return faults;
  }

  private record Reference(String function, String name) {}

  private boolean isThere(Reference reference) {
    String to = reference.name();
    return switch (reference.function()) {
      case "Fn::If", "Condition" -> tree.path("Conditions").has(to);
      case "Fn::GetAtt" -> isAttribute(to);
      default ->
          PSEUDO.containsKey(to)
              || (to.equals(NO_VALUE) && reference.function().equals("Ref"))
              || tree.path("Parameters").has(to)
              || resources().has(to);
    };
  }

  private boolean isAttribute(String of) {
    String[] parts = of.split("\\.", 2);
    String type = resources().path(parts[0]).path("Type").asText();
    return CloudFormation.ATTRIBUTES.getOrDefault(type, Set.of()).contains(parts[1]);
  }

  private static List<Reference> references(JsonNode in) {
    List<Reference> found = new ArrayList<>();
    if (in.isObject()) {
      in.properties()
          .forEach(
              field -> {
                String key = field.getKey();
                JsonNode value = field.getValue();
                switch (key) {
                  case "Ref", "Condition" -> {
                    if (value.isTextual()) {
                      found.add(new Reference(key, value.asText()));
                    }
                  }
                  case "Fn::If" -> found.add(new Reference(key, value.path(0).asText()));
                  case "Fn::GetAtt" ->
                      found.add(
                          new Reference(
                              key, value.path(0).asText() + "." + value.path(1).asText()));
                  case "Fn::Sub" ->
                      VARIABLE
                          .matcher(value.asText())
                          .results()
                          .forEach(each -> found.add(new Reference(key, each.group(1))));
                  default -> {}
                }
              });
    }
    in.forEach(each -> found.addAll(references(each)));
    return found;
  }

  /**
   * The template as CloudFormation would work it out, with nothing left of its functions.
   *
   * @param given values of parameters; the others have their defaults
   */
  Template with(Map<String, String> given) {
    Map<String, JsonNode> values = new HashMap<>();
    PSEUDO.forEach((key, value) -> values.put(key, TextNode.valueOf(value)));
    tree.path("Parameters")
        .properties()
        .forEach(
            each -> {
              JsonNode parameter = each.getValue();
              String text = given.getOrDefault(each.getKey(), parameter.path("Default").asText());
              if (!given.containsKey(each.getKey()) && !parameter.has("Default")) {
                throw new IllegalArgumentException(each.getKey() + " is not given");
              }
              values.put(
                  each.getKey(),
                  parameter.path("Type").asText().equals("Number")
                      ? IntNode.valueOf(Integer.parseInt(text))
                      : TextNode.valueOf(text));
            });
    for (String each : given.keySet()) {
      if (!tree.path("Parameters").has(each)) {
        throw new IllegalArgumentException(each + " is no parameter of " + name);
      }
    }
    return new Template(name, new Resolution(values).of(tree));
  }

  /** The only resource of a type, of a template that is worked out. */
  JsonNode only(String type) {
    List<JsonNode> found = new ArrayList<>();
    for (JsonNode each : resources()) {
      if (each.path("Type").asText().equals(type)) {
        found.add(each);
      }
    }
    if (found.size() != 1) {
      throw new IllegalArgumentException("%s has %d %s".formatted(name, found.size(), type));
    }
    return found.getFirst();
  }

  /** Works out a template's functions. */
  private final class Resolution {
    private final Map<String, JsonNode> values;

    Resolution(Map<String, JsonNode> values) {
      this.values = values;
    }

    /** What a part comes to; missing for what is to be left out. */
    JsonNode of(JsonNode part) {
      if (part.isArray()) {
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        for (JsonNode each : part) {
          JsonNode value = of(each);
          if (!value.isMissingNode()) {
            list.add(value);
          }
        }
        return list;
      }
      if (!part.isObject()) {
        return part;
      }
      if (part.size() == 1) {
        var only = part.properties().iterator().next();
        JsonNode argument = only.getValue();
        switch (only.getKey()) {
          case "Ref" -> {
            return ref(argument.asText());
          }
          case "Fn::Sub" -> {
            return TextNode.valueOf(
                VARIABLE
                    .matcher(argument.asText())
                    .replaceAll(each -> Matcher.quoteReplacement(ref(each.group(1)).asText())));
          }
          case "Fn::GetAtt" -> {
            return TextNode.valueOf(argument.path(0).asText() + "." + argument.path(1).asText());
          }
          case "Fn::If" -> {
            boolean holds = holds(tree.path("Conditions").path(argument.path(0).asText()));
            return of(argument.path(holds ? 1 : 2));
          }
          default -> {}
        }
      }
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      part.properties()
          .forEach(
              field -> {
                JsonNode value = of(field.getValue());
                if (!value.isMissingNode()) {
                  object.set(field.getKey(), value);
                }
              });
      return object;
    }

    private JsonNode ref(String to) {
      if (to.equals(NO_VALUE)) {
        return MissingNode.getInstance();
      }
      if (resources().has(to)) {
        return TextNode.valueOf(to);
      }
      JsonNode value = values.get(to);
      if (value == null) {
        throw new IllegalArgumentException(
            "%s refers to %s, which is not there".formatted(name, to));
      }
      return value;
    }

    private boolean holds(JsonNode condition) {
      JsonNode equal = condition.path("Fn::Equals");
      if (equal.isArray()) {
        return of(equal.path(0)).asText().equals(of(equal.path(1)).asText());
      }
      JsonNode not = condition.path("Fn::Not");
      if (not.isArray()) {
        return !holds(not.path(0));
      }
      throw new IllegalArgumentException("%s has a condition %s".formatted(name, condition));
    }
  }
}
