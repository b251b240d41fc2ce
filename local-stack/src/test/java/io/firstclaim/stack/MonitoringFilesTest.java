package io.firstclaim.stack;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Alerts and dashboard. What {@code promtool} can say of them is asked where it is on the {@code
 * PATH} (Debian's package {@code prometheus} has it), and passed over elsewhere.
 */
class MonitoringFilesTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Path PROMETHEUS = Path.of("../docker/prometheus");
  private static final Path GRAFANA = Path.of("../docker/grafana");
  private static final Path DASHBOARD = GRAFANA.resolve("dashboards/zones.json");
  private static final Pattern METRIC =
      Pattern.compile("firstclaim_[a-z_]+?(?=_bucket|_count|_sum|[^a-z_])");

  private static final Pattern SERIES = Pattern.compile("\\b(up|(firstclaim|kafka)_\\w+)");
  private static final Pattern OF_ONE_APPLICATION =
      Pattern.compile(SERIES + "\\{application=~\"\\$application\"");

  /** Grafana puts something in their place. */
  private static final Pattern INTERVAL = Pattern.compile("\\$__(rate_interval|range)");

  @TempDir private Path folder;

  private static List<JsonNode> alerts() {
    return ComposeFileTest.yaml(PROMETHEUS.resolve("rules.yml"))
        .at("/groups/0/rules")
        .valueStream()
        .toList();
  }

  private static List<JsonNode> panels() throws IOException {
    return JSON.readTree(DASHBOARD.toFile()).path("panels").valueStream().toList();
  }

  private static Stream<JsonNode> targets(JsonNode panel) {
    return panel.path("targets").valueStream();
  }

  @Test
  void everyMetricThatIsWatched_isInTheDocumentation() throws IOException {
    Set<String> watched = new TreeSet<>();
    for (Path file : List.of(PROMETHEUS.resolve("rules.yml"), DASHBOARD)) {
      Matcher metrics = METRIC.matcher(Files.readString(file));
      while (metrics.find()) {
        watched.add(metrics.group());
      }
    }
    String documented = Files.readString(Path.of("../docs/metrics.md"));
    assertThat(watched).hasSizeGreaterThan(5).allMatch(documented::contains);
  }

  @Test
  void everyAlert_hasANameOfItsOwn_andSaysWhatIsWrongAndWhereToLook() {
    List<JsonNode> alerts = alerts();
    assertThat(alerts).map(alert -> alert.path("alert").asText()).doesNotHaveDuplicates();
    assertThat(alerts)
        .allSatisfy(
            alert -> {
              assertThat(alert.at("/labels/severity").asText()).isIn("critical", "warning");
              assertThat(alert.at("/annotations/summary").asText()).isNotEmpty();
              assertThat(alert.at("/annotations/description").asText()).isNotEmpty();
            });
  }

  /** Else one that is well would hide what is wrong with another. */
  @Test
  void alertsAndPanels_tellApplicationsApart() throws IOException {
    assertThat(alerts())
        .map(alert -> alert.path("expr").asText())
        .allSatisfy(expr -> assertThat(expr).doesNotContain("by (zone", "by (instance"));
    for (JsonNode panel : panels()) {
      assertThat(targets(panel))
          .map(target -> target.path("expr").asText())
          .allSatisfy(
              expr ->
                  assertThat(OF_ONE_APPLICATION.matcher(expr).results().count())
                      .as(expr)
                      .isEqualTo(SERIES.matcher(expr).results().count())
                      .isPositive());
    }
  }

  @Test
  void everyAlert_hasItsParagraphOfTheRunbook_andNoParagraphIsOfAnAlertThatIsGone()
      throws IOException {
    List<String> names = alerts().stream().map(alert -> alert.path("alert").asText()).toList();
    assertThat(alerts())
        .allSatisfy(
            alert ->
                assertThat(alert.at("/annotations/runbook").asText())
                    .isEqualTo(
                        "docs/operate.md#"
                            + alert.path("alert").asText().toLowerCase(Locale.ROOT)));
    List<String> headings =
        Files.readAllLines(Path.of("../docs/operate.md")).stream()
            .filter(line -> line.startsWith("### Firstclaim"))
            .map(line -> line.substring("### ".length()))
            .toList();
    assertThat(headings).containsExactlyInAnyOrderElementsOf(names);
  }

  @Test
  void everyAlert_isTried() throws IOException {
    String trials = Files.readString(PROMETHEUS.resolve("rules_test.yml"));
    assertThat(alerts())
        .map(alert -> "alertname=\"%s\"".formatted(alert.path("alert").asText()))
        .allMatch(trials::contains);
  }

  @Test
  void alerts_fireWhereTheyMust_andNowhereElse() throws Exception {
    promtool("check", "rules", PROMETHEUS.resolve("rules.yml").toString());
    promtool("test", "rules", PROMETHEUS.resolve("rules_test.yml").toString());
  }

  @Test
  void everyPanel_hasAnIdOfItsOwn_andAsksTheDatasourceThatIsThere() throws IOException {
    String datasource =
        ComposeFileTest.yaml(GRAFANA.resolve("provisioning/datasources/prometheus.yml"))
            .at("/datasources/0/uid")
            .asText();
    assertThat(panels()).map(panel -> panel.path("id").asInt()).doesNotHaveDuplicates();
    assertThat(panels())
        .allSatisfy(
            panel -> {
              assertThat(panel.at("/datasource/uid").asText()).isEqualTo(datasource);
              assertThat(targets(panel))
                  .isNotEmpty()
                  .allMatch(target -> target.at("/datasource/uid").asText().equals(datasource))
                  .noneMatch(target -> target.path("expr").asText().isBlank());
            });
  }

  @Test
  void panels_doNotOverlap() throws IOException {
    int end = 0;
    for (JsonNode panel : panels()) {
      assertThat(panel.at("/gridPos/y").asInt()).as(panel.path("title").asText()).isEqualTo(end);
      end += panel.at("/gridPos/h").asInt();
    }
  }

  @Test
  void everyExpressionOfTheDashboard_isOneToPrometheus() throws Exception {
    List<String> rules = new ArrayList<>();
    for (JsonNode panel : panels()) {
      targets(panel)
          .map(target -> INTERVAL.matcher(target.path("expr").asText()).replaceAll("5m"))
          .forEach(
              expr ->
                  rules.add("{record: panel_%d, expr: %s}".formatted(rules.size(), quoted(expr))));
    }
    Path file = folder.resolve("panels.yml");
    Files.writeString(
        file, "groups: [{name: panels, rules: [%s]}]".formatted(String.join(",\n", rules)));
    promtool("check", "rules", file.toString());
  }

  /** JSON's strings are YAML's, too. */
  private static String quoted(String text) {
    return JSON.getNodeFactory().textNode(text).toString();
  }

  private void promtool(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("promtool"));
    command.addAll(List.of(arguments));
    Process promtool;
    try {
      promtool = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      abort("not tried: there is no promtool");
      return;
    }
    String output = new String(promtool.getInputStream().readAllBytes(), UTF_8);
    assertThat(promtool.waitFor()).as(output).isZero();
  }
}
