package io.firstclaim.processor.engine.identity;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.api.ResourceSource;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** A record's ID is found or refused, whatever its key, value and headers are. */
class IdentifierFuzzTest {
  /** Separates the parts of an input; the last part may have it too. */
  private static final byte SEPARATOR = 0x1e;

  private static final ObjectMapper TREE =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNumberLength(Integer.MAX_VALUE).build())
                  .build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private static final Identifier ANYWHERE = identifier("header:ce_id, header:h, key, json:/id");
  private static final Identifier HASHED = identifier("header:ce_id, sha256:value");
  private static final Identifier BY_PLACE = identifier("header:h, offset");

  private static Identifier identifier(String sources) {
    return new Identifier(
        RecordIdSource.parseList(sources),
        ResourceSource.parseList(
            "header:account, key, json:/from, json:/to/0, json:/lines/*/account"),
        "shop");
  }

  private static @Nullable ConsumerRecord<byte[], byte[]> record(byte[] input) {
    RecordHeaders headers = new RecordHeaders();
    int from = 0;
    byte[] key = null;
    for (String name :
        List.of(
            "key", "ce_id", "ce_source", "h", "account", "firstclaim-id", "firstclaim-redrive")) {
      int to = from;
      while (to < input.length && input[to] != SEPARATOR) {
        to++;
      }
      if (to == input.length) {
        return null;
      }
      byte[] part = Arrays.copyOfRange(input, from, to);
      if (name.equals("key")) {
        key = part;
      } else if (part.length > 0) {
        headers.add(name, part);
      }
      from = to + 1;
    }
    return record(key, Arrays.copyOfRange(input, from, input.length), headers);
  }

  @SuppressWarnings("NullAway") // Kafka's types are unmarked; a record's key may be null
  private static ConsumerRecord<byte[], byte[]> record(
      byte @Nullable [] key, byte[] value, Headers headers) {
    return new ConsumerRecord<>(
        "quakes", 2, 77, 0, TimestampType.CREATE_TIME, 0, 0, key, value, headers, Optional.empty());
  }

  @FuzzTest(maxDuration = "10m")
  void anyRecord_hasAnId_orAReasonInOneLine(byte[] input) {
    ConsumerRecord<byte[], byte[]> record = record(input);
    if (record == null) {
      return;
    }
    for (Identifier identifier : List.of(ANYWHERE, HASHED, BY_PLACE)) {
      Identity identity = identifier.identify(record, "id-of-" + record.topic());

      assertThat(identifier.identify(record, "id-of-" + record.topic())).isEqualTo(identity);
      switch (identity) {
        case Identity.Found(RecordId id, List<RecordId> resources) -> {
          requireSafe(id);
          assertThat(resources).hasSizeLessThanOrEqualTo(Resources.MOST).doesNotHaveDuplicates();
          assertThat(resources).allMatch(each -> each.space() == RecordId.Space.RESOURCE);
          assertThat(resources).allMatch(each -> each.text().equals(OneLine.of(each.text())));
        }
        case Identity.Unclaimable(RecordId id, String cause) -> {
          requireSafe(id);
          assertThat(cause).isEqualTo(OneLine.of(cause));
        }
        case Identity.Missing(RecordId standIn, String cause) -> {
          assertThat(standIn.text()).startsWith("unidentified:");
          assertThat(cause).isEqualTo(OneLine.of(cause));
        }
      }
    }
  }

  private static void requireSafe(RecordId id) {
    assertThat(id.text()).isEqualTo(OneLine.of(id.text()));
    assertThat(id.text()).doesNotStartWith("unidentified:").doesNotStartWith("mismatch:");
  }

  @FuzzTest(maxDuration = "10m")
  void anyDocument_hasTheIdThatAnotherReaderSees_orNone(byte[] document) throws IOException {
    for (String at : List.of("/id", "/a/0/b", "/~0~1/", "/0/0")) {
      JsonPointer pointer = JsonPointer.compile(at);
      byte[] found = JsonId.find(document, pointer);
      if (found != null) {
        JsonNode node = TREE.readTree(new String(document, UTF_8)).at(pointer);
        String text = new String(found, UTF_8);
        assertThat(node.isTextual() || node.isIntegralNumber()).isTrue();
        if (node.isTextual()) {
          assertThat(text).isEqualTo(node.textValue());
        } else {
          assertThat(text).matches("-?[0-9]+");
        }
      }
    }
  }

  @FuzzTest(maxDuration = "10m")
  void anyDocument_namesTheResourcesThatAnotherReaderSees_orNone(byte[] document)
      throws IOException {
    Resources found = new Resources();
    JsonResources.find(
        document,
        List.of(JsonPointer.compile("/from"), JsonPointer.compile("/lines/*/account")),
        found);
    if (found.fault() == null && !found.ids().isEmpty()) {
      JsonNode tree = TREE.readTree(new String(document, UTF_8));
      List<String> seen =
          Stream.concat(
                  Stream.of(tree.path("from")), tree.path("lines").findValues("account").stream())
              .filter(JsonNode::isTextual)
              .map(JsonNode::textValue)
              .toList();
      for (RecordId id : found.ids()) {
        String text = new String(id.bytes(), UTF_8);
        assertThat(text.matches("-?[0-9]+") || seen.contains(text)).isTrue();
      }
    }
  }
}
