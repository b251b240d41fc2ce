package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.service.scenario.Outcomes.Outcome;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@OneBackend(Backend.S3)
class HostileRecordsIT {
  /** Ends the IDs that the sink refuses, so that they are logged and become dead letters. */
  private static final String REFUSED = "-refused";

  @RegisterExtension final Scenario scenario;

  HostileRecordsIT(Backend backend) {
    scenario = new Scenario(backend, 2);
  }

  /**
   * A record that is not what one would wish.
   *
   * @param text the ID as people are shown it; null for the stand-in of a record without one
   * @param header the ID as the handler is told it
   * @param cause begins why it is given up; null if it is to be completed
   */
  private record Hostile(
      ProducerRecord<byte[], byte[]> message,
      @Nullable String text,
      @Nullable String header,
      @Nullable String cause) {}

  private final List<Hostile> hostiles = new ArrayList<>();

  @Test
  void everyHostileRecord_staysItself_isEscaped_andHasOneOutcome() {
    scenario.sink().behave(call -> call.id().endsWith(REFUSED) ? 422 : 200);
    TopicReader<DeadLetter> letters = scenario.deadLetters();
    Duration lease = Duration.ofMinutes(2); // none is to end
    Zone a = scenario.zone("a").lease(lease).inLongSessions();
    Zone b = scenario.zone("b").lease(lease).inLongSessions().set("FIRSTCLAIM_LOG_FORMAT", "json");
    scenario.start();
    addIds();
    addRecordsWithoutUsableId();
    addUnusualContents();

    Map<String, Hostile> byPlace = new LinkedHashMap<>();
    for (Hostile hostile : hostiles) {
      RecordMetadata place = scenario.feed().send(hostile.message);
      byPlace.put(place.partition() + "@" + place.offset(), hostile);
    }
    long dead = hostiles.stream().filter(hostile -> hostile.cause != null).count();
    scenario.awaitAtTheEnd(a, b);
    scenario.eventually("dead letters come", () -> assertThat(letters.all()).hasSize((int) dead));
    scenario.eventually(
        "each has an end",
        () -> assertThat(scenario.outcomes().all()).hasSizeGreaterThanOrEqualTo(byPlace.size()));

    Map<String, Outcome> endings = new LinkedHashMap<>();
    for (Outcome outcome : scenario.outcomes().all()) {
      assertThat(outcome.outcome()).as(outcome.toString()).isIn("COMPLETED", "DEAD");
      assertThat(endings.put(outcome.partition() + "@" + outcome.offset(), outcome))
          .as("an earlier end than %s", outcome)
          .isNull();
    }
    assertThat(endings).containsOnlyKeys(byPlace.keySet());
    byPlace.forEach(
        (place, hostile) ->
            requireEnd(hostile, Objects.requireNonNull(endings.get(place)), letters.all()));
    assertThat(endings.values().stream().map(Outcome::id)).doesNotHaveDuplicates();
    assertThat(scenario.claims().all()).hasSameSizeAs(hostiles);
    assertThat(scenario.sink().called())
        .containsExactlyInAnyOrderElementsOf(
            hostiles.stream().map(Hostile::header).filter(Objects::nonNull).toList());
    requireCleanLog(a);
    requireCleanLog(b);
    assertThat(a.logText() + b.logText()).contains("%00" + REFUSED, "%FF%FE" + REFUSED);
  }

  private void addIds() {
    add("\0", "%00");
    add("../../../etc/passwd", "../../../etc/passwd");
    add("line\r\nX-Injected: yes", "line%0D%0AX-Injected:%20yes");
    add("%2e%2e", "%2e%2e");
    add("\u202Egnp.exe", "%E2%80%AEgnp.exe");
    add("\u2028", "%E2%80%A8");
    add("\u001b[31mred", "%1B[31mred");
    add("${jndi:ldap://127.0.0.1/x} {} %s", "${jndi:ldap://127.0.0.1/x} {} %s");
    add("<script>alert(1)</script>", "<script>alert(1)</script>");
    add("\"},{\"id\":\"", "\"},{\"id\":\"");
    add("k".repeat(1024 - REFUSED.length()), "k".repeat(1024 - REFUSED.length()));
    add("zo\u00eb", "zo\u00eb", "zo%C3%AB");
    // Not UTF-8: two that differ in a byte, an overlong dot, half a surrogate pair.
    add(new byte[] {-1, -2}, "%FF%FE");
    add(new byte[] {-1, -3}, "%FF%FD");
    add(new byte[] {(byte) 0xc0, (byte) 0xae}, "%C0%AE");
    add(new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80}, "%ED%A0%80");
    // What those are written as, as an ID of its own.
    add("%FF%FE", "%25FF%25FE");
    add("%00", "%2500");
  }

  private void addRecordsWithoutUsableId() {
    byte[] value = "value".getBytes(UTF_8);
    unusable(null, value, "the record has no ID");
    unusable(null, null, "the record has no ID");
    unusable(new byte[0], value, "the record has no ID");
    unusable(new byte[1 << 20], value, "the ID from key has 1048576 bytes");
    unusable("k".repeat(1025).getBytes(UTF_8), value, "the ID from key has 1025 bytes");
    unusable(
        "unidentified:%s:0:0".formatted(scenario.topic()).getBytes(UTF_8),
        value,
        "the ID from key begins with 'unidentified:'");
  }

  private void unusable(byte @Nullable [] key, byte @Nullable [] value, String cause) {
    hostiles.add(new Hostile(scenario.feed().message(key, value, List.of()), null, null, cause));
  }

  private void addUnusualContents() {
    byte[] value = "value".getBytes(UTF_8);
    completed(null, value, List.of(header("ce_id", "from header")), "from header");
    completed(
        "key".getBytes(UTF_8),
        value,
        List.of(header("ce_id", "1"), header("ce_source", "/a|b")),
        "/a%7Cb|1");
    completed("tombstone".getBytes(UTF_8), null, List.of(), "tombstone");
    completed("no bytes".getBytes(UTF_8), new byte[0], List.of(), "no bytes");
    completed("thousand".getBytes(UTF_8), value, thousand("header-"), "thousand");
    completed(
        "bad header".getBytes(UTF_8),
        value,
        List.of(
            header("ce_a\r\nX-Injected", "1"),
            header("ce_b", "1\r\nX-Injected: 1"),
            header("content-type", "text/plain\r\nX-Injected: 1"),
            new RecordHeader("ce_c", (byte[]) null)),
        "bad header");
    hostiles.add(
        new Hostile(
            scenario.feed().message("too many".getBytes(UTF_8), value, thousand("ce_")),
            "too many",
            null,
            "the content-type and ce_ headers take more than"));
  }

  /** An ID, to be shown as that, once to be completed and once to be refused. */
  private void add(byte[] key, String shown) {
    add(key, shown, shown);
  }

  private void add(byte[] key, String text, String header) {
    completed(key, key, List.of(), text, header);
    byte[] refused = Arrays.copyOf(key, key.length + REFUSED.length());
    System.arraycopy(REFUSED.getBytes(UTF_8), 0, refused, key.length, REFUSED.length());
    hostiles.add(
        new Hostile(
            scenario.feed().message(refused, key, List.of()),
            text + REFUSED,
            header + REFUSED,
            "HTTP 422 from"));
  }

  private void add(String key, String shown) {
    add(key, shown, shown);
  }

  private void add(String key, String text, String header) {
    add(key.getBytes(UTF_8), text, header);
  }

  private void completed(
      byte @Nullable [] key, byte @Nullable [] value, List<Header> headers, String shown) {
    completed(key, value, headers, shown, shown);
  }

  private void completed(
      byte @Nullable [] key,
      byte @Nullable [] value,
      List<Header> headers,
      String text,
      String header) {
    hostiles.add(new Hostile(scenario.feed().message(key, value, headers), text, header, null));
  }

  private static Header header(String name, String value) {
    return new RecordHeader(name, value.getBytes(UTF_8));
  }

  private static List<Header> thousand(String prefix) {
    return IntStream.range(0, 1000).mapToObj(i -> header(prefix + i, "value " + i)).toList();
  }

  private void requireEnd(Hostile hostile, Outcome end, List<DeadLetter> letters) {
    String place = end.partition() + ":" + end.offset();
    String id = end.id();
    if (hostile.text == null) {
      assertThat(id)
          .matches(
              "unidentified:%s:[A-Za-z0-9_-]{22}:%s"
                  .formatted(Pattern.quote(scenario.topic()), place));
    } else {
      assertThat(id).isEqualTo(hostile.text);
    }
    assertThat(end.text()).matches("[^\\p{Cntrl}]*");
    if (hostile.text != null && hostile.message.headers().toArray().length == 0) {
      assertThat(end.key())
          .isEqualTo(ByteBuffer.wrap(Objects.requireNonNull(hostile.message.key())));
    }
    if (hostile.header != null) {
      List<Call> calls = scenario.sink().callsOf(hostile.header);
      assertThat(calls).as("calls of %s", id).hasSize(1);
      assertThat(calls.getFirst().body())
          .isEqualTo(hostile.message.value() == null ? new byte[0] : hostile.message.value());
      assertThat(calls.getFirst().headers()).doesNotContainKey("X-injected");
    }
    if (hostile.cause == null) {
      assertThat(end.outcome()).as(id).isEqualTo("COMPLETED");
      return;
    }
    assertThat(end.outcome()).as(id).isEqualTo("DEAD");
    assertThat(end.cause()).startsWith(hostile.cause);
    DeadLetter letter =
        letters.stream().filter(each -> each.id().equals(id)).findFirst().orElseThrow();
    assertThat(letter.key()).isEqualTo(hostile.message.key());
    assertThat(letter.value()).isEqualTo(hostile.message.value());
    assertThat(letter.header("firstclaim-cause")).isEqualTo(end.cause());
    assertThat(letter.header("firstclaim-attempts")).isEqualTo("1");
    List<Header> headers = List.of(hostile.message.headers().toArray());
    assertThat(List.of(letter.message().headers().toArray()).subList(0, headers.size()))
        .isEqualTo(headers);
  }

  /** Lines of printable text, and the tabs of stack traces. */
  private static void requireCleanLog(Zone zone) {
    assertThat(zone.logText().lines())
        .allSatisfy(
            line -> {
              assertThat(line).matches("[\\t\\P{Cntrl}]*").doesNotContain("\u202E", "\u2028");
              assertThat(line).doesNotStartWith("X-Injected");
            });
  }
}
