package io.firstclaim.processor.service.scenario;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Alerts and dashboard against what an instance serves: a name that is wrong would be silent. */
@Order(3)
class WatchedMetricsIT {
  private static final Path DOCKER = Path.of("..", "..", "docker");
  private static final Pattern EXPRESSION = Pattern.compile("^ *expr: (.+)$", Pattern.MULTILINE);

  /** A metric, and its labels if any are named. */
  private static final Pattern METRIC =
      Pattern.compile("\\b((?:firstclaim|kafka)_\\w+)(?:\\{([^}]*)})?");

  private static final Pattern LABEL = Pattern.compile("(\\w+)(?==|!=|=~|!~)");

  /** Prometheus adds them. */
  private static final Set<String> ADDED = Set.of("application", "zone", "instance", "job");

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  @Test
  void whateverIsWatched_isServed() throws Exception {
    Zone zone = scenario.zone("a").audited(scenario.topic());
    scenario.start();
    List<String> ids = Feed.ids("event", 20);
    scenario.feed().send(ids);
    scenario.awaitCompleted(ids);

    scenario.eventually(
        "what the audit finds is there once it runs",
        () ->
            assertThat(zone.prometheus().lines())
                .contains("firstclaim_audit_running 1.0", "firstclaim_violations_total 0.0"));
    assertThat(Files.readString(zone.log()))
        .as("warnings of what is meant so")
        .doesNotContain("StateDirectory", "StreamsConfig");
    List<String> expressions = expressions();
    assertThat(expressions).hasSizeGreaterThan(20);
    // Kafka's own are looked at once a minute. Some are registered only then, and others are gone
    // then if they are given up for those of each topic or partition.
    scenario.eventually(
        "all that is watched is served, when Kafka's clients were looked at again",
        () -> {
          List<String> served = zone.prometheus().lines().toList();
          assertThat(served)
              .anyMatch(
                  line ->
                      line.startsWith("kafka_consumer_fetch_manager_records_consumed_total{")
                          && line.contains("topic=\"" + scenario.topic() + "\""));
          assertThat(expressions)
              .allSatisfy(
                  expression -> {
                    for (MatchResult metric : METRIC.matcher(expression).results().toList()) {
                      assertServed(served, metric.group(1), labels(metric.group(2)));
                    }
                  });
        });
  }

  private static void assertServed(List<String> served, String name, Set<String> labels) {
    assertThat(served)
        .as("%s with %s", name, labels)
        .anyMatch(
            line ->
                (line.startsWith(name + "{") || line.startsWith(name + " "))
                    && labels.stream().allMatch(label -> line.contains(label + "=\"")));
  }

  private static Set<String> labels(@Nullable String selector) {
    if (selector == null) {
      return Set.of();
    }
    return LABEL
        .matcher(selector)
        .results()
        .map(MatchResult::group)
        .filter(label -> !ADDED.contains(label))
        .collect(toSet());
  }

  private static List<String> expressions() throws IOException {
    String rules = Files.readString(DOCKER.resolve("prometheus/rules.yml"));
    List<String> expressions =
        new ArrayList<>(EXPRESSION.matcher(rules).results().map(found -> found.group(1)).toList());
    try (Stream<Path> dashboards = Files.list(DOCKER.resolve("grafana/dashboards"))) {
      for (Path dashboard : dashboards.toList()) {
        expressions.addAll(
            new ObjectMapper().readTree(dashboard.toFile()).findValuesAsText("expr"));
      }
    }
    return expressions;
  }
}
