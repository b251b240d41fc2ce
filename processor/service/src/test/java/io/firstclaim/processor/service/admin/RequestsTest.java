package io.firstclaim.processor.service.admin;

import static io.firstclaim.processor.service.admin.Api.OPERATOR;
import static io.firstclaim.processor.service.admin.Api.READER;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.micronaut.context.annotation.Property;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What is wrong with a request is said with the field, what it has, and what would be right. */
@MicronautTest
@Property(name = "firstclaim.admin.token-file", value = Api.TOKENS)
class RequestsTest {
  private static final String MOMENT = "give a moment such as 2026-11-22T21:00:00Z";
  private static final String OBJECT = "give an object such as {\"reason\":\"fixed in 1.4\"}";
  private static final String REASON = "give a reason, such as \"fixed in 1.4\"";

  private final Api api;

  RequestsTest(Api api) {
    this.api = api;
  }

  private void requireError(String path, String body, String message) throws IOException {
    HttpResponse<String> answer = api.post(path, OPERATOR, body);

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
    assertThat(new ObjectMapper().readTree(answer.body()).path("error").asText())
        .isEqualTo(message);
  }

  @Test
  void recordThatTheStoreHasForgotten_isRedrivenOnlyByWhoeverSaysThatItMayBeDone() {
    Api.requireError(
        api.post("/api/records/forgotten/redrive", Api.OPERATOR, "{\"reason\":\"mended\"}"),
        409,
        "nobody knows whether it is done since it died; with \\\"mayBeDone\\\": true");
  }

  @Test
  void pauseOfWhatIsNoScope_isRefused() {
    Api.requireError(
        api.post("/api/pause", Api.OPERATOR, "{\"reason\":\"tired\",\"scope\":\"world\"}"),
        400,
        "give instance, zone or application");
  }

  private static final String DELAY =
      "give a duration such as 500ms, 30s, 5m, 12h or 8d, at most 7d";

  private static Stream<Arguments> wrongBodies() {
    return Stream.of(
        Arguments.of("\"limit\":0", "limit=0: give a number from 1 to 10000000"),
        Arguments.of("\"limit\":10000001", "limit=10000001: give a number from 1 to 10000000"),
        Arguments.of("\"rate\":0", "rate=0: give a number from 1 to 10000"),
        Arguments.of("\"limit\":\"many\"", "limit=\"many\": give a whole number"),
        Arguments.of("\"limit\":\"5\"", "limit=\"5\": give a whole number"),
        Arguments.of("\"limit\":1.5", "limit=1.5: give a whole number"),
        Arguments.of("\"limit\":99999999999", "limit: give a whole number"),
        Arguments.of("\"limit\":true", "limit: give a whole number"),
        Arguments.of("\"dryRun\":\"yes\"", "dryRun=\"yes\": give true or false"),
        Arguments.of("\"dryRun\":\"true\"", "dryRun=\"true\": give true or false"),
        Arguments.of("\"dryRun\":1", "dryRun=1: give true or false"),
        Arguments.of("\"cause\":5", "cause=5: give a text"),
        Arguments.of("\"cause\":[\"a\"]", "cause: give a text"),
        Arguments.of("\"cause\":\" \"", "cause=\" \": give a text that is not blank"),
        Arguments.of("\"since\":\"yesterday\"", "since=\"yesterday\": " + MOMENT),
        Arguments.of("\"until\":\"a\\nb\\u202e\"", "until=\"a b\\u{202e}\": " + MOMENT),
        Arguments.of(
            "\"topic\":\"others\"", "topic=\"others\": give one of the input topics: orders"),
        Arguments.of("\"topic\":null", "topic: give one of the input topics: orders"),
        Arguments.of("\"reason\":\"\"", "reason=\"\": " + REASON),
        Arguments.of("\"reason\":null", "reason: " + REASON),
        Arguments.of(
            "\"limmit\":5",
            "there is no field limmit; there are cause, delay, dryRun, id, ids, limit, rate, reason,"
                + " since, topic, until"),
        Arguments.of("\"ids\":[]", "ids=0: give 1 to 100 IDs"),
        Arguments.of("\"ids\":[\"a\"]", "give either ids, or topic, cause, since, until and limit"),
        Arguments.of("\"delay\":\"soon\"", "delay=\"soon\": " + DELAY),
        Arguments.of("\"delay\":\"8d\"", "delay=\"8d\": " + DELAY));
  }

  @ParameterizedTest
  @MethodSource("wrongBodies")
  void wrongField_isNamed_withWhatItHas_andWhatWouldBeRight(String field, String message)
      throws IOException {
    String name = field.substring(0, field.indexOf(':'));
    String body =
        Stream.of("\"topic\":\"orders\"", "\"reason\":\"fixed\"", field)
            .filter(each -> each.equals(field) || !each.startsWith(name))
            .reduce((one, other) -> one + "," + other)
            .orElseThrow();

    requireError("/api/redrive", "{%s}".formatted(body), message);
  }

  @Test
  void idThatIsNull_isRefused() throws IOException {
    requireError("/api/redrive", "{\"ids\":[null],\"reason\":\"fixed\"}", "ids: give texts");
  }

  @Test
  void bodyThatIsNoObject_isAnsweredWithOneThatIs() throws IOException {
    requireError("/api/pause", "{\"reason\":", "the body is no JSON: " + OBJECT);
    requireError("/api/pause", "why", "the body is no JSON: " + OBJECT);
    requireError("/api/pause", "[]", "the body: " + OBJECT);
  }

  @Test
  void reasonOfAnAct_isRequired_andItsOnlyField() throws IOException {
    requireError("/api/records/x/release", "{}", "reason: " + REASON);
    requireError("/api/records/x/release", "{\"reason\":\" \"}", "reason=\" \": " + REASON);
    requireError(
        "/api/records/x/dismiss",
        "{\"reason\":\"stuck\",\"by\":\"me\"}",
        "there is no field by; there are reason");
    requireError(
        "/api/records/x/release",
        "{\"reason\":\"stuck\",\"tokn\":1}",
        "there is no field tokn; there are reason, token");
  }

  @Test
  void dryRun_needsNoReason() {
    assertThat(api.post("/api/dismiss", OPERATOR, "{\"topic\":\"orders\",\"dryRun\":true}").body())
        .isEqualTo("{\"error\":\"topic orders.acts: it has not been read yet\"}");
  }

  @Test
  void wrongParameter_isNamed_withWhatItHas_andWhatWouldBeRight() {
    Api.requireError(
        api.get("/api/held?limit=0", READER), 400, "limit=0: give a number from 1 to 1000");
    Api.requireError(
        api.get("/api/held?limit=all", READER), 400, "limit=\\\"all\\\": give a whole number");
    Api.requireError(
        api.get("/api/search?since=today", READER), 400, "since=\\\"today\\\": " + MOMENT);
    Api.requireError(
        api.get("/api/search?outcome=done", READER),
        400,
        "outcome=\\\"done\\\": give one of COMPLETED, FAILED,");
    Api.requireError(
        api.get("/api/search?outcome=dead&cause=x&prefix=a%20b", READER),
        503,
        "the audit: the audit has not been started");
  }
}
