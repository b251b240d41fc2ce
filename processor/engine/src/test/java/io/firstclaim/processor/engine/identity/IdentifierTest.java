package io.firstclaim.processor.engine.identity;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.processor.engine.api.RecordIdSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class IdentifierTest {
  private static final String TOPIC_ID = "id-of-quakes";
  private static final RecordId STAND_IN = RecordId.of("unidentified:quakes:id-of-quakes:2:77");

  private static Identity identify(
      String sources, byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
    return new Identifier(RecordIdSource.parseList(sources), List.of(), "shop")
        .identify(record(key, value, headers), TOPIC_ID);
  }

  @SuppressWarnings("NullAway") // Kafka's types are unmarked; a record's key and value may be null
  private static ConsumerRecord<byte[], byte[]> record(
      byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
    return new ConsumerRecord<>(
        "quakes", 2, 77, 0, TimestampType.CREATE_TIME, 0, 0, key, value, headers, Optional.empty());
  }

  private static Identity ofKey(byte @Nullable [] key) {
    return identify("key", key, null, new RecordHeaders());
  }

  private static Identity ofJson(String pointer, String document) {
    return identify("json:" + pointer, null, document.getBytes(UTF_8), new RecordHeaders());
  }

  private static Identity ofEvent(byte @Nullable [] source, byte @Nullable [] id) {
    RecordHeaders headers = new RecordHeaders();
    headers.add("ce_source", source);
    headers.add("ce_id", id);
    return identify("header:ce_id", null, null, headers);
  }

  private static Identity ofEvent(String source, String id) {
    return ofEvent(source.getBytes(UTF_8), id.getBytes(UTF_8));
  }

  private static Identity found(String id) {
    return new Identity.Found(RecordId.of(id));
  }

  private static Identity missing(String cause) {
    return new Identity.Missing(STAND_IN, cause);
  }

  private static RecordHeaders header(String name, byte @Nullable [] value) {
    RecordHeaders headers = new RecordHeaders();
    headers.add(name, value);
    return headers;
  }

  private static byte[] latin(String text) {
    return text.getBytes(ISO_8859_1);
  }

  @Test
  void firstSourceThatYields_wins() {
    RecordHeaders headers = header("id", latin("from header"));
    assertThat(identify("header:id,key", latin("from key"), null, headers))
        .isEqualTo(found("from header"));
    assertThat(identify("key,header:id", latin("from key"), null, headers))
        .isEqualTo(found("from key"));
    assertThat(identify("header:other,key", latin("from key"), null, headers))
        .isEqualTo(found("from key"));
  }

  @Test
  void lastHeaderOfTheName_counts() {
    RecordHeaders headers = header("id", latin("1"));
    headers.add("id", latin("2"));
    headers.add("ID", latin("3"));
    assertThat(identify("header:id", null, null, headers)).isEqualTo(found("2"));
    headers.add("id", null);
    assertThat(identify("header:id,key", latin("k"), null, headers)).isEqualTo(found("k"));
  }

  @Test
  void nullAndEmpty_doNotYield() {
    assertThat(identify("header:id", null, null, header("id", new byte[0])))
        .isEqualTo(missing("the record has no ID; tried: header:id"));
    assertThat(identify("header:id", null, null, header("id", null)))
        .isInstanceOf(Identity.Missing.class);
    assertThat(ofKey(null)).isEqualTo(missing("the record has no ID; tried: key"));
    assertThat(ofKey(new byte[0])).isInstanceOf(Identity.Missing.class);
    assertThat(identify("json:/id,sha256:value", null, null, new RecordHeaders()))
        .isEqualTo(missing("the record has no ID; tried: json:/id, sha256:value"));
  }

  @Test
  void offset_alwaysYields() {
    assertThat(
            identify("header:id,key,json:/id,sha256:value,offset", null, null, header("x", null)))
        .isEqualTo(found("quakes-id-of-quakes-2-77"));
  }

  @Test
  void valueHash_isItsSha256() {
    assertThat(identify("sha256:value", null, latin("abc"), new RecordHeaders()))
        .isEqualTo(
            found("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    assertThat(identify("sha256:value", null, new byte[0], new RecordHeaders()))
        .isEqualTo(
            found("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
  }

  @Test
  void eventId_isCombinedWithItsSource() {
    assertThat(ofEvent("https://example.org/quakes", "us7000"))
        .isEqualTo(found("https://example.org/quakes|us7000"));
    assertThat(ofEvent("a|b%", "c|d%")).isEqualTo(found("a%7Cb%25|c|d%"));
  }

  @Test
  void eventIdWithoutSource_isItself() {
    assertThat(ofEvent(null, latin("us7000"))).isEqualTo(found("us7000"));
    assertThat(ofEvent("", "us7000")).isEqualTo(found("us7000"));
    assertThat(identify("header:ce_id", null, null, header("ce_id", latin("us7000"))))
        .isEqualTo(found("us7000"));
    assertThat(ofEvent("", "a|b")).isEqualTo(found("|a|b")).isNotEqualTo(ofEvent("a", "b"));
  }

  @Test
  void sourceWithoutEventId_doesNotYield() {
    assertThat(ofEvent(latin("a"), null)).isInstanceOf(Identity.Missing.class);
    assertThat(ofEvent("a", "")).isInstanceOf(Identity.Missing.class);
  }

  @Test
  void otherHeaders_areNotCombined() {
    RecordHeaders headers = header("id", latin("1"));
    headers.add("ce_source", latin("a"));
    assertThat(identify("header:id", null, null, headers)).isEqualTo(found("1"));
  }

  @Test
  void barsAndPercents_moveNothingFromSourceToId() {
    assertThat(
            List.of(
                ofEvent("a|b", "c"),
                ofEvent("a", "b|c"),
                ofEvent("a%7Cb", "c"),
                ofEvent("a%257Cb", "c"),
                ofEvent("", "a|b|c"),
                ofEvent("", "|a|b|c"),
                ofEvent("|a", "b|c"),
                ofEvent("a|", "b|c")))
        .doesNotHaveDuplicates();
  }

  @Test
  void distinctPairs_haveDistinctIds() {
    Random random = new Random(20_260_301);
    byte[] alphabet = latin("ab|%257C\u0000\u00ff\u00c0\u0080/");
    Map<Identity, String> pairs = new HashMap<>();
    for (int i = 0; i < Soak.times(30_000, 300_000); i++) {
      byte[] source = pick(random, alphabet, random.nextInt(6));
      byte[] id = pick(random, alphabet, 1 + random.nextInt(5));
      String pair =
          source.length + ":" + new String(source, ISO_8859_1) + new String(id, ISO_8859_1);
      String before = pairs.put(ofEvent(source, id), pair);
      assertThat(before).isIn(null, pair);
    }
    assertThat(pairs.size()).isGreaterThan(Soak.times(10_000, 100_000));
  }

  private static byte[] pick(Random random, byte[] alphabet, int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = alphabet[random.nextInt(alphabet.length)];
    }
    return bytes;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\0",
        "../../etc/passwd",
        "a\r\nb",
        "%2e%2e",
        "\u00ff",
        "\u00fe",
        "\u00c0\u0080",
        "\u00e2\u0082",
        " "
      })
  void hostileBytes_areTheIdByteForByte(String latin) {
    Identity expected = new Identity.Found(RecordId.of(latin(latin)));
    assertThat(ofKey(latin(latin))).isEqualTo(expected);
    assertThat(identify("header:id", null, null, header("id", latin(latin)))).isEqualTo(expected);
    assertThat(ofEvent(null, latin(latin))).isEqualTo(expected);
  }

  @Test
  void byteDifferentInvalidIds_stayDistinct() {
    assertThat(ofKey(latin("\u00ff"))).isNotEqualTo(ofKey(latin("\u00fe")));
    assertThat(ofEvent(latin("\u00ff"), latin("1")))
        .isNotEqualTo(ofEvent(latin("\u00fe"), latin("1")));
    assertThat(ofEvent(latin("s"), latin("\u00ff")))
        .isNotEqualTo(ofEvent(latin("s"), latin("\u00fe")));
  }

  @Test
  void longestId_isFound_andOneByteMoreIsMissing() {
    assertThat(ofKey(new byte[1024])).isInstanceOf(Identity.Found.class);
    assertThat(ofKey(new byte[1025]))
        .isEqualTo(missing("the ID from key has 1025 bytes, more than 1024"));
    assertThat(ofEvent("s".repeat(512), "i".repeat(511))).isInstanceOf(Identity.Found.class);
    assertThat(ofEvent("s".repeat(512), "i".repeat(512)))
        .isEqualTo(missing("the ID from header:ce_id has 1025 bytes, more than 1024"));
  }

  @Test
  void oversizeId_isMissing_whateverOtherSourcesSay() {
    byte[] megabyte = new byte[1 << 20];
    assertThat(identify("header:id,key,offset", latin("k"), null, header("id", megabyte)))
        .isEqualTo(missing("the ID from header:id has 1048576 bytes, more than 1024"));
    assertThat(ofJson("/id", "{\"id\":\"%s\"}".formatted("x".repeat(1 << 20))))
        .isEqualTo(missing("the ID from json:/id has 1048576 bytes, more than 1024"));
    assertThat(ofJson("/id", "{\"id\":%s}".formatted("9".repeat(1 << 20))))
        .isEqualTo(missing("the ID from json:/id has 1048576 bytes, more than 1024"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"unidentified:quakes:2:77", "unidentified:", "mismatch:1"})
  void idThatTheServiceCouldMakeUp_isMissing(String reserved) {
    String prefix = reserved.substring(0, reserved.indexOf(':') + 1);
    assertThat(ofKey(latin(reserved)))
        .isEqualTo(
            missing("the ID from key begins with '%s', which is reserved".formatted(prefix)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      quoteCharacter = '`',
      value = {
        "/id!          {\"id\":\"a1\"}!                        a1",
        "/id!          {\"id\":42}!                            42",
        "/id!          {\"id\":-42}!                           -42",
        "/id!          {\"id\":9007199254740993000000000001}!  9007199254740993000000000001",
        "/id!          {\"x\":{\"id\":1,\"y\":[{}]},\"id\":2}! 2",
        "/a/b!         {\"a\":{\"b\":\"c\"}}!                  c",
        "/a/1/id!      {\"a\":[{\"id\":1},{\"id\":2}]}!        2",
        "/1!           [1,2,3]!                                2",
        "/1!           {\"1\":\"x\"}!                          x",
        "/a~1b/~0!     {\"a/b\":{\"~\":\"x\"}}!                x",
        "/id!          {\"id\":\"Gr\\u00f6\\u00dfe\"}!         Größe",
        "/id!          {\"id\":\"\\ud83d\\ude00\"}!            😀",
        "/id!          {\"id\":\"..\\/\"}!                     ../",
      })
  void stringOrInteger_inJson_isTheId(String pointer, String document, String id) {
    assertThat(ofJson(pointer, document)).isEqualTo(found(id));
  }

  @Test
  void controlsInJson_areTheIdByteForByte() {
    assertThat(ofJson("/id", "{\"id\":\"\\u0000\\r\\n\"}")).isEqualTo(found("\0\r\n"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "null",
        "{}",
        "[]",
        "7",
        "\"id\"",
        "{\"id\":null}",
        "{\"id\":\"\"}",
        "{\"id\":true}",
        "{\"id\":1.0}",
        "{\"id\":1e3}",
        "{\"id\":{}}",
        "{\"id\":[\"a\"]}",
        "{\"ID\":\"a\"}",
        "{\"x\":{\"id\":\"a\"}}", // no such string or integer
        "{\"id\":\"a\"",
        "{\"id\":\"a\"}}",
        "{\"id\":\"a\"} {\"id\":\"b\"}",
        "{\"id\":\"a\"} x",
        "{'id':'a'}",
        "{id:\"a\"}",
        "{\"id\":\"a\",}",
        "{\"id\":01}",
        "{\"id\":NaN}",
        "{\"id\":\"a\n\"}",
        "\ufeff{\"id\":\"a\"}",
        "// x\n{\"id\":\"a\"}",
        "<id>a</id>", // no JSON
        "{\"id\":\"a\",\"id\":\"b\"}",
        "{\"x\":{\"y\":1,\"y\":1},\"id\":\"a\"}", // ambiguous
        "{\"id\":\"\\ud800\"}",
        "{\"id\":\"\\udc00\\ud800\"}" // no text
      })
  void otherValues_doNotYield(String document) {
    assertThat(ofJson("/id", document)).isEqualTo(missing("the record has no ID; tried: json:/id"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\u00ff", "\u00c0\u0080", "\u00ed\u00a0\u0080", "\u00f8\u0088\u0080\u0080\u0080"})
  void invalidUtf8_inJson_doesNotYield(String latin) {
    byte[] document = latin("{\"id\":\"" + latin + "\"}");
    assertThat(identify("json:/id", null, document, new RecordHeaders()))
        .isInstanceOf(Identity.Missing.class);
    byte[] elsewhere = latin("{\"id\":\"a\",\"x\":\"" + latin + "\"}");
    assertThat(identify("json:/id", null, elsewhere, new RecordHeaders()))
        .isInstanceOf(Identity.Missing.class);
  }

  @Test
  void utf16_doesNotYield() {
    assertThat(identify("json:/id", null, "{\"id\":\"a\"}".getBytes(UTF_16BE), new RecordHeaders()))
        .isInstanceOf(Identity.Missing.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{\"a\":", "[{\"a\":"})
  void deepJson_doesNotYield(String opening) {
    String deep = opening.repeat(300_000);
    assertThat(ofJson("/id", deep)).isInstanceOf(Identity.Missing.class);
    assertThat(ofJson("/id", "{\"id\":\"a\",\"x\":" + deep)).isInstanceOf(Identity.Missing.class);
    assertThat(ofJson("/0/0/0", deep)).isInstanceOf(Identity.Missing.class);
  }

  @Test
  void veryManyNames_areRead() {
    StringBuilder document = new StringBuilder("{");
    for (int i = 0; i < 100_000; i++) {
      document.append("\"AaBB").append(i).append("\":0,");
    }
    assertThat(ofJson("/id", document.append("\"id\":\"a\"}").toString())).isEqualTo(found("a"));
  }

  @Test
  void randomBytes_neverThrow() {
    Random random = new Random(3);
    byte[] alphabet = latin("{}[]\":,\\u0019e-.idtrue null\u00ff\u00c0\u0000\n");
    Identifier identifier =
        new Identifier(
            RecordIdSource.parseList("header:ce_id,key,json:/id/0,sha256:value"),
            List.of(),
            "shop");
    for (int i = 0; i < Soak.times(10_000, 100_000); i++) {
      RecordHeaders headers = header("ce_source", pick(random, alphabet, random.nextInt(4)));
      headers.add("ce_id", pick(random, alphabet, random.nextInt(2)));
      byte[] value = pick(random, alphabet, random.nextInt(40));
      byte[] key = pick(random, alphabet, random.nextInt(2));
      assertThat(identifier.identify(record(key, value, headers), TOPIC_ID)).isNotNull();
      assertThat(ofJson("/id/0", new String(value, US_ASCII))).isNotNull();
    }
  }

  @Test
  void noSources_areRefused() {
    assertThatThrownBy(() -> new Identifier(List.of(), List.of(), "shop"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static Headers redriven(String id) {
    return new RecordHeaders()
        .add("firstclaim-application", "shop".getBytes(UTF_8))
        .add("firstclaim-redrive", "redrive-1".getBytes(UTF_8))
        .add("firstclaim-id", id.getBytes(UTF_8));
  }

  @Test
  void redrivenRecord_hasTheIdItWasGivenUpUnder_whateverTheSourcesSay() {
    byte[] raw = {0, '%', (byte) 0xff, 'a'};
    String text = RecordId.of(raw).text();

    for (String sources : List.of("key", "sha256:value", "offset", "header:none")) {
      assertThat(identify(sources, latin("key"), latin("{}"), redriven(text)))
          .isEqualTo(new Identity.Found(RecordId.of(raw)));
    }
  }

  @Test
  void redrivenRecord_thatHadNoId_isGivenUpUnderTheSameStandIn() {
    assertThat(identify("key", latin("key"), latin("{}"), redriven("unidentified:quakes:1:5")))
        .isInstanceOfSatisfying(
            Identity.Missing.class,
            missing ->
                assertThat(missing.standIn()).isEqualTo(RecordId.of("unidentified:quakes:1:5")));
  }

  @Test
  void redrivenRecord_withoutAnIdThatCanBeRead_isMissing() {
    assertThat(identify("key", latin("key"), latin("{}"), redriven("")))
        .isInstanceOf(Identity.Missing.class);
    assertThat(identify("key", latin("key"), latin("{}"), redriven("mismatch:x")))
        .isInstanceOf(Identity.Missing.class);
  }

  @Test
  void headersOfARedrive_thatAreNotAllThere_orAnotherApplications_areNotHeeded() {
    Identity own = new Identity.Found(RecordId.of("key"));
    Headers alone = new RecordHeaders().add("firstclaim-id", "other".getBytes(UTF_8));
    assertThat(identify("key", latin("key"), latin("{}"), alone)).isEqualTo(own);
    Headers without = redriven("other");
    without.remove("firstclaim-id");
    assertThat(identify("key", latin("key"), latin("{}"), without)).isEqualTo(own);
    Headers others = redriven("other").add("firstclaim-application", "another".getBytes(UTF_8));
    assertThat(identify("key", latin("key"), latin("{}"), others)).isEqualTo(own);
    Headers forged = redriven("other").add("firstclaim-redrive", "a b".getBytes(UTF_8));
    assertThat(identify("key", latin("key"), latin("{}"), forged)).isEqualTo(own);
    Headers unnamed = redriven("other");
    unnamed.remove("firstclaim-application");
    assertThat(identify("key", latin("key"), latin("{}"), unnamed))
        .isEqualTo(new Identity.Found(RecordId.of("other")));
  }
}
