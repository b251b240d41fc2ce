package io.firstclaim.processor.engine.identity;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.api.ResourceSource;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What records touch is found where the settings say. */
final class ResourcesTest {
  private static final RecordId ID = RecordId.of("transfer-1");

  @SuppressWarnings("NullAway") // Kafka's types are unmarked; a record's key and value may be null
  private static Identity identify(
      String resources, byte @Nullable [] key, @Nullable String value, Headers headers) {
    headers.add("id", ID.bytes());
    return new Identifier(
            RecordIdSource.parseList("header:id"), ResourceSource.parseList(resources), "shop")
        .identify(
            new ConsumerRecord<>(
                "in",
                0,
                0,
                0,
                TimestampType.CREATE_TIME,
                0,
                0,
                key,
                value == null ? null : value.getBytes(UTF_8),
                headers,
                Optional.empty()),
            "");
  }

  private static Identity ofJson(String resources, String value) {
    return identify(resources, null, value, new RecordHeaders());
  }

  private static Identity touching(String... names) {
    return new Identity.Found(
        ID, Stream.of(names).map(name -> RecordId.of(name).asResource()).toList());
  }

  private static Identity refused(String cause) {
    return new Identity.Unclaimable(ID, cause);
  }

  private static final String NOT_A_NAME =
      "the value names a resource that is neither a string nor an integer";

  @Test
  void allSourcesContribute_andTheResourcesAreSorted() {
    RecordHeaders headers = new RecordHeaders();
    headers.add("tenant", "c".getBytes(UTF_8));

    assertThat(
            identify(
                "json:/to,json:/from,header:tenant,key",
                "d".getBytes(UTF_8),
                "{\"from\":\"a\",\"to\":\"b\"}",
                headers))
        .isEqualTo(touching("a", "b", "c", "d"));
  }

  @Test
  void resource_isItsValue_howeverOftenAndWhereverItIsNamed() {
    assertThat(ofJson("json:/from,json:/to", "{\"from\":\"x\",\"to\":\"x\"}"))
        .isEqualTo(touching("x"));
    assertThat(ofJson("json:/from,json:/to", "{\"from\":7,\"to\":\"7\"}")).isEqualTo(touching("7"));
  }

  @Test
  void star_standsForEachElementOfAnArray_andForAMemberOfThatName() {
    String items = "{\"items\":[{\"sku\":\"b\"},{\"other\":1},{\"sku\":12},{\"sku\":\"a\"}]}";

    assertThat(ofJson("json:/items/*/sku", items)).isEqualTo(touching("12", "a", "b"));
    assertThat(ofJson("json:/*", "[\"x\",\"y\"]")).isEqualTo(touching("x", "y"));
    assertThat(ofJson("json:/*/*", "[[\"x\"],[\"y\",\"z\"]]")).isEqualTo(touching("x", "y", "z"));
    assertThat(ofJson("json:/*", "{\"a\":\"x\",\"*\":\"y\"}")).isEqualTo(touching("y"));
    assertThat(ofJson("json:/items/1/sku,json:/items/*/sku", items))
        .isEqualTo(touching("12", "a", "b"));
  }

  @Test
  void pointersMayShareTheirWay() {
    assertThat(ofJson("json:/a/b,json:/a/c,json:/d", "{\"a\":{\"b\":1,\"c\":2,\"x\":[]},\"d\":3}"))
        .isEqualTo(touching("1", "2", "3"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"account\":null}",
        "{\"account\":\"\"}",
        "[]",
        "7",
        "no JSON",
        "{\"account\":\"x\"} more",
        "{\"account\":\"x\",\"account\":\"y\"}",
        "{\"account\":\"\\ud800\"}"
      })
  void valueThatNamesNone_touchesNothing(String value) {
    assertThat(ofJson("json:/account", value)).isEqualTo(touching());
  }

  @Test
  void recordWithoutValueKeyAndHeader_touchesNothing() {
    assertThat(identify("json:/account,header:tenant,key", null, null, new RecordHeaders()))
        .isEqualTo(touching());
  }

  @ParameterizedTest
  @ValueSource(strings = {"true", "1.5", "{\"name\":\"x\"}", "[\"x\"]"})
  void valueThatCanNameNothing_makesTheRecordADeadLetter(String value) {
    assertThat(ofJson("json:/account", "{\"account\":" + value + "}"))
        .isEqualTo(refused(NOT_A_NAME));
  }

  @Test
  void resourceThatIsTooLong_makesTheRecordADeadLetter() {
    assertThat(ofJson("json:/account", "{\"account\":\"" + "x".repeat(1024) + "\"}"))
        .isEqualTo(touching("x".repeat(1024)));
    assertThat(ofJson("json:/account", "{\"account\":\"" + "x".repeat(1025) + "\"}"))
        .isEqualTo(refused("the record names a resource of 1025 bytes, more than 1024"));
    assertThat(identify("key", new byte[1025], null, new RecordHeaders()))
        .isEqualTo(refused("the record names a resource of 1025 bytes, more than 1024"));
  }

  @Test
  void moreThanTwentyResources_makeTheRecordADeadLetter() {
    assertThat(ofJson("json:/*", array(20)))
        .isInstanceOfSatisfying(
            Identity.Found.class, found -> assertThat(found.resources()).hasSize(20));
    assertThat(ofJson("json:/*", array(21)))
        .isEqualTo(refused("the record names more than 20 resources"));
    assertThat(identify("json:/*,key", "another".getBytes(UTF_8), array(20), new RecordHeaders()))
        .isEqualTo(refused("the record names more than 20 resources"));
  }

  private static String array(int size) {
    return IntStream.range(0, size)
        .mapToObj(Integer::toString)
        .collect(Collectors.joining(",", "[", "]"));
  }

  @Test
  void recordWithoutAnId_isMissing_whateverItTouches() {
    assertThat(
            new Identifier(RecordIdSource.parseList("key"), ResourceSource.parseList("key"), "shop")
                .identify(new ConsumerRecord<>("in", 0, 0, new byte[0], "{}".getBytes(UTF_8)), ""))
        .isInstanceOf(Identity.Missing.class);
  }
}
