package io.firstclaim.processor.engine.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.RecordId;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OutcomeFormatTest {
  private static final Instant AT = Instant.parse("2026-03-01T12:00:00.123Z");

  private static Outcome outcome(
      Outcome.Kind kind, String id, @Nullable String cause, @Nullable Instant retryAt) {
    return new Outcome(
        id,
        kind,
        "eu-1",
        "host-17",
        42,
        3,
        "orders",
        5,
        123_456_789_012L,
        AT,
        Duration.ofMillis(250),
        cause,
        retryAt,
        List.of());
  }

  private static Outcome touching(Outcome outcome) {
    return new Outcome(
        outcome.id(),
        outcome.kind(),
        outcome.zone(),
        outcome.instance(),
        outcome.token(),
        outcome.attempt(),
        outcome.topic(),
        outcome.partition(),
        outcome.offset(),
        outcome.at(),
        outcome.took(),
        outcome.cause(),
        outcome.retryAt(),
        List.of("account-x", "account-y"));
  }

  private static String json(Outcome outcome) {
    return new String(OutcomeFormat.write(outcome), UTF_8);
  }

  @Test
  void fields_areThoseOfTheContract_inItsOrder() {
    assertThat(json(outcome(Outcome.Kind.COMPLETED, "order-1", null, null)))
        .isEqualTo(
            "{\"id\":\"order-1\",\"outcome\":\"COMPLETED\",\"zone\":\"eu-1\",\"instance\":"
                + "\"host-17\",\"token\":42,\"attempt\":3,\"topic\":\"orders\",\"partition\":5,"
                + "\"offset\":123456789012,\"at\":\"2026-03-01T12:00:00.123Z\",\"millis\":250,"
                + "\"cause\":null,\"retryAt\":null}");
  }

  @Test
  void failedAttempt_saysWhyAndWhenTheNextIsDue() throws IOException {
    JsonNode json =
        new ObjectMapper()
            .readTree(json(outcome(Outcome.Kind.FAILED, "order-1", "no luck", AT.plusSeconds(2))));

    assertThat(json.get("outcome").asText()).isEqualTo("FAILED");
    assertThat(json.get("cause").asText()).isEqualTo("no luck");
    assertThat(json.get("retryAt").asText()).isEqualTo("2026-03-01T12:00:02.123Z");
  }

  @Test
  void kinds_areNamedAsInTheContract() {
    assertThat(List.of(Outcome.Kind.values()).stream().map(Enum::name))
        .containsExactlyInAnyOrder(
            "COMPLETED", "FAILED", "DEAD", "TAKEN_OVER", "LEASE_LOST", "MISMATCH", "BLOCKED");
  }

  @Test
  void recordThatTouchesSomething_namesIt_asTheLastField() {
    Outcome touching = touching(outcome(Outcome.Kind.COMPLETED, "order-1", null, null));

    assertThat(json(touching))
        .endsWith("\"retryAt\":null,\"resources\":[\"account-x\",\"account-y\"]}");
    assertThat(OutcomeFormat.read(OutcomeFormat.write(touching))).contains(touching);
  }

  @ParameterizedTest
  @EnumSource
  void outcome_isReadAsItWasWritten(Outcome.Kind kind) {
    for (Instant retryAt : new Instant[] {null, AT}) {
      Outcome outcome = outcome(kind, "order-1", "why", retryAt);
      assertThat(OutcomeFormat.read(OutcomeFormat.write(outcome))).contains(outcome);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"},{\"outcome\":\"COMPLETED",
        "line 1\r\nline 2",
        "\u0000\u001f\u007f",
        "</script><script>alert(1)</script>",
        "\\u0022 \\",
        "\u202e desrever",
        "äöü 漢字 🎉"
      })
  void hostileText_staysText(String text) throws IOException {
    String id = RecordId.of(text).text();
    String json = json(outcome(Outcome.Kind.DEAD, id, text, null));

    JsonNode parsed = new ObjectMapper().readTree(json);
    assertThat(parsed.get("id").asText()).isEqualTo(id);
    assertThat(parsed.get("outcome").asText()).isEqualTo("DEAD");
    assertThat(parsed.get("cause").asText()).isEqualTo(text);
    assertThat(json.chars().noneMatch(c -> c < ' ')).isTrue();
    assertThat(OutcomeFormat.read(json.getBytes(UTF_8)))
        .hasValueSatisfying(outcome -> assertThat(outcome.cause()).isEqualTo(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "null",
        "[]",
        "7",
        "\"COMPLETED\"",
        "{",
        "{}",
        "{\"outcome\":\"COMPLETED\"}",
        "{\"outcome\":\"completed\",\"at\":\"2026-03-01T12:00:00Z\"}",
        "{\"outcome\":\"UNHEARD_OF\",\"at\":\"2026-03-01T12:00:00Z\"}",
        "{\"outcome\":\"FAILED\",\"at\":\"yesterday\"}",
        "{\"outcome\":\"FAILED\",\"at\":\"2026-03-01T12:00:00Z\",\"retryAt\":\"soon\"}"
      })
  void whatIsNoOutcome_isNone(String text) {
    assertThat(OutcomeFormat.read(text.getBytes(UTF_8))).isEmpty();
  }

  @Test
  void garbage_isNoOutcome_andNoFault() {
    Random random = new Random(7);
    for (int i = 0; i < 2000; i++) {
      byte[] garbage = new byte[random.nextInt(200)];
      random.nextBytes(garbage);
      assertThat(OutcomeFormat.read(garbage)).isEmpty();
    }
    assertThat(OutcomeFormat.read("[".repeat(100_000).getBytes(UTF_8))).isEmpty();
  }

  @Test
  void outcomeWithABitChanged_isWhatItsTreeSays_andNeverAFault() {
    byte[] good = OutcomeFormat.write(touching(outcome(Outcome.Kind.FAILED, "order-1", "why", AT)));
    for (int i = 0; i < good.length; i++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] bad = good.clone();
        bad[i] ^= (byte) (1 << bit);
        assertThat(OutcomeFormat.read(bad)).as(new String(bad, UTF_8)).isEqualTo(byItsTree(bad));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"outcome\":\"DEAD\",\"at\":\"2026-03-01T12:00:00Z\"}",
        "{\"at\":\"2026-03-01T12:00:00Z\",\"outcome\":\"DEAD\",\"later\":{\"id\":[{\"id\":1}]}}",
        "{\"outcome\":\"DEAD\",\"outcome\":\"FAILED\",\"at\":\"2026-03-01T12:00:00Z\"}",
        "{\"id\":{\"id\":\"x\"},\"token\":[7],\"cause\":8,\"outcome\":\"DEAD\",\"at\":\"2026-03-01T12:00:00Z\"}",
        "{\"id\":9,\"token\":\"7\",\"attempt\":1.9,\"offset\":true,\"outcome\":\"DEAD\",\"at\":\"2026-03-01T12:00:00Z\"}",
        "{\"resources\":[\"x\",7,[\"y\"],{}],\"outcome\":\"DEAD\",\"at\":\"2026-03-01T12:00:00Z\"}",
        "{\"resources\":\"x\",\"outcome\":\"DEAD\",\"at\":\"2026-03-01T12:00:00Z\"} and more"
      })
  void oddFields_areWhatTheirTreeSays(String text) {
    assertThat(OutcomeFormat.read(text.getBytes(UTF_8)))
        .isPresent()
        .isEqualTo(byItsTree(text.getBytes(UTF_8)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"token\":9223372036854775808", "attempt\":2147483648", "millis\":1e400"})
  void numberThatDoesNotFit_isNotCutToOneThatDoes(String field) {
    String text = "{\"outcome\":\"DEAD\",\"at\":\"2026-03-01T12:00:00Z\",\"" + field + "}";
    assertThat(OutcomeFormat.read(text.getBytes(UTF_8))).isEmpty();
  }

  /** Reads it the plain way, as a tree, to compare. */
  private static Optional<Outcome> byItsTree(byte[] bytes) {
    try {
      JsonNode json = new ObjectMapper().readTree(bytes);
      if (!json.isObject()) {
        return Optional.empty();
      }
      List<String> resources = new ArrayList<>();
      if (json.path("resources").isArray()) {
        json.path("resources").forEach(each -> resources.add(each.asText()));
      }
      JsonNode cause = json.path("cause");
      JsonNode retryAt = json.path("retryAt");
      return Optional.of(
          new Outcome(
              json.path("id").asText(),
              Outcome.Kind.valueOf(json.path("outcome").asText()),
              json.path("zone").asText(),
              json.path("instance").asText(),
              json.path("token").asLong(),
              json.path("attempt").asInt(),
              json.path("topic").asText(),
              json.path("partition").asInt(),
              json.path("offset").asLong(),
              Instant.parse(json.path("at").asText()),
              Duration.ofMillis(json.path("millis").asLong()),
              cause.isTextual() ? cause.asText() : null,
              retryAt.isTextual() ? Instant.parse(retryAt.asText()) : null,
              resources));
    } catch (IOException | IllegalArgumentException | DateTimeException e) {
      return Optional.empty();
    }
  }
}
