package io.firstclaim.listener;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.identity.Identifier;
import io.firstclaim.processor.engine.identity.Identity;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.UUIDSerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordIdsTest {
  private static ConsumerRecord<@Nullable Object, Object> record(
      @Nullable Object key, Object value) {
    return new ConsumerRecord<@Nullable Object, Object>("in", 1, 7, key, value);
  }

  /** Each as it comes: key, value, headers. */
  private static final List<ConsumerRecord<byte[], byte[]>> RECORDS =
      List.of(
          bytes("k1", "{\"id\": \"e-1\", \"in\": [{\"id\": 4711}]}", Map.of("event-id", "h-1")),
          bytes("k2", "{\"id\": null}", Map.of()),
          bytes("k3", "{\"id\": \"a\", \"id\": \"b\"}", Map.of()),
          bytes("k4", "no json", Map.of("ce_id", "1", "ce_source", "/a|%b")),
          bytes("k5", "{\"id\": 12345678901234567890123}", Map.of("ce_id", "a|b")),
          bytes("k6", "{\"id\": \"ü\"} ", Map.of("event-id", "")),
          bytes("k7", "{\"id\": \"x\"} {}", Map.of("ce_id", "plain")));

  private static ConsumerRecord<byte[], byte[]> bytes(
      String key, String value, Map<String, String> headers) {
    ConsumerRecord<byte[], byte[]> record =
        new ConsumerRecord<>("in", 1, 7, key.getBytes(UTF_8), value.getBytes(UTF_8));
    headers.forEach((name, text) -> record.headers().add(name, text.getBytes(UTF_8)));
    return record;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "key",
        "header:event-id",
        "header:event-id, key",
        "json:/id",
        "json:/in/0/id, json:/id, key",
        "sha256:value",
        "header:ce_id"
      })
  void id_isTheOneThatTheEngineFinds_inTheListenersName(String list) {
    Identifier engines = new Identifier(RecordIdSource.parseList(list), List.of(), "application");
    RecordIds ids = new RecordIds("payments", list);
    for (ConsumerRecord<byte[], byte[]> raw : RECORDS) {
      ConsumerRecord<@Nullable Object, Object> text =
          record(new String(raw.key(), UTF_8), new String(raw.value(), UTF_8));
      raw.headers().forEach(text.headers()::add);
      switch (engines.identify(raw, "1")) {
        case Identity.Found found -> {
          var expected = new Identified.Found(RecordId.of("payments:" + found.id().text()));
          assertThat(ids.find(raw)).isEqualTo(expected);
          assertThat(ids.find(text)).isEqualTo(expected);
        }
        case Identity.Missing missing -> {
          assertThat(ids.find(raw)).isInstanceOf(Identified.Missing.class);
          assertThat(ids.find(text)).isInstanceOf(Identified.Missing.class);
        }
        case Identity other -> throw new AssertionError(other);
      }
    }
  }

  @Test
  void keyThatKafkasOwnDeserializersMade_isTheBytesItWas() {
    UUID uuid = UUID.randomUUID();
    RecordIds ids = new RecordIds("n", "key");
    assertThat(ids.find(record(4711L, "v")))
        .isEqualTo(ids.find(record(new LongSerializer().serialize("in", 4711L), "v")));
    assertThat(ids.find(record(uuid, "v")))
        .isEqualTo(ids.find(record(new UUIDSerializer().serialize("in", uuid), "v")));
  }

  @Test
  void textThatLostBytes_isNoId() {
    String replaced = new String(new byte[] {'a', (byte) 0xff}, UTF_8);
    assertThat(new RecordIds("n", "key").find(record(replaced, "v")))
        .isInstanceOf(Identified.Missing.class);
    assertThat(new RecordIds("n", "sha256:value").find(record("k", replaced)))
        .isInstanceOf(Identified.Missing.class);
    assertThat(new RecordIds("n", "key").find(record("k", replaced)))
        .isInstanceOf(Identified.Found.class);
    assertThat(new RecordIds("n", "key,sha256:value").find(record("k", replaced)))
        .as("the ID is the key's, which lost nothing")
        .isInstanceOf(Identified.Found.class);
  }

  @Test
  void objectThatAMapperMade_isNoIdsSource() {
    assertThatThrownBy(() -> new RecordIds("n", "json:/id").find(record("k", List.of())))
        .isInstanceOf(UnfitTypeException.class)
        .hasMessageContaining("ByteArrayDeserializer");
  }

  @Test
  void standIns_areApartFromIds_andEachRecordsOwn() {
    RecordIds ids = new RecordIds("n", "key");
    var one = (Identified.Missing) ids.find(record(null, "v"));
    var other =
        (Identified.Missing)
            ids.find(new ConsumerRecord<@Nullable Object, Object>("in", 1, 8, null, "v"));
    assertThat(one.standIn()).isNotEqualTo(other.standIn());
    assertThat(one.standIn().text()).startsWith("n@unidentified");
  }

  @Test
  void whatIsNoSource_isNamed() {
    assertThatThrownBy(() -> new RecordIds("n", "key,jason:/id"))
        .hasMessage("'jason:/id' is none of header:NAME, key, json:/pointer, sha256:value");
    assertThatThrownBy(() -> new RecordIds("a:b", "key")).hasMessageContaining("'a:b'");
  }
}
