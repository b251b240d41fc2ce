package io.firstclaim.processor.service.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.micronaut.context.annotation.Property;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The files of the page, which are open to everybody. */
@MicronautTest
@Property(name = "firstclaim.admin.token-file", value = Api.TOKENS)
class PageFilesTest {
  private static final Pattern NAMED = Pattern.compile("(?:href|src)=\"([^\"#]+)\"");

  private final Api api;

  PageFilesTest(Api api) {
    this.api = api;
  }

  private HttpResponse<String> open(String path) {
    return api.get("/" + path, null);
  }

  @Test
  void everyFileThatThePageNames_isServed_toWhoeverAsks_andUnderAnyPathPrefix() {
    List<String> named =
        NAMED.matcher(open("").body()).results().map(MatchResult::group).map(this::path).toList();

    assertThat(named)
        .contains("js/main.js", "page.css")
        .anyMatch(path -> path.endsWith("uPlot.iife.min.js"))
        .anyMatch(path -> path.endsWith("uPlot.min.css"));
    for (String path : named) {
      assertThat(path)
          .as("a relative path, on this machine")
          .doesNotStartWith("/")
          .doesNotContain(":");
      assertThat(open(path).statusCode()).as(path).isEqualTo(200);
    }
  }

  private String path(String attribute) {
    return NAMED.matcher(attribute).replaceAll("$1");
  }

  @Test
  void licenceOfTheCharts_isServed() {
    String named =
        NAMED
            .matcher(open("").body())
            .results()
            .map(found -> found.group(1))
            .filter(path -> path.contains("LICENSE"))
            .findFirst()
            .orElseThrow();

    assertThat(open(named).body()).contains("The MIT License", "Leon Sorokin");
  }

  @Test
  void filesOutsideThePage_areNotServed() {
    for (String path :
        List.of(
            "application.properties",
            "webjars/../application.properties",
            "webjars/uplot/%2e%2e/%2e%2e/%2e%2e/%2e%2e/application.properties",
            "webjars/uplot/..%2f..%2f..%2f..%2fapplication.properties",
            "io/firstclaim/processor/service/Application.class",
            "webjars/uplot")) {
      assertThat(open(path).statusCode()).as(path).isNotEqualTo(200);
    }
  }
}
