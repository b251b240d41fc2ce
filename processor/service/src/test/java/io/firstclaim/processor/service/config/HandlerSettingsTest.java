package io.firstclaim.processor.service.config;

import static io.firstclaim.processor.service.config.SettingsFixture.DURATION;
import static io.firstclaim.processor.service.config.SettingsFixture.TOPIC;
import static io.firstclaim.processor.service.config.SettingsFixture.read;
import static io.firstclaim.processor.service.config.SettingsFixture.readS3;
import static io.firstclaim.processor.service.config.SettingsFixture.readWithout;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.engine.setting.WrongSettingsException;
import io.firstclaim.processor.service.handler.StatusMeanings;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The settings of each handler. */
class HandlerSettingsTest {
  private static final String STATUSES =
      "give statuses from 300 to 599, comma-separated, such as 404,500";

  private static ServiceSettings readDataset(Map<String, Object> more) {
    Map<String, Object> all =
        new HashMap<>(
            Map.of(
                "firstclaim.handler.type", "dataset",
                "firstclaim.handler.dataset.bucket", "my-lake"));
    all.putAll(more);
    return readS3(all);
  }

  @Test
  void dataset_isInTheBucketOfTheClaims_ifItHasNoneOfItsOwn() {
    int eight = 8 << 20;
    Duration second = Duration.ofSeconds(1);
    assertThat(readS3(Map.of("firstclaim.handler.type", "dataset")).handler())
        .isEqualTo(new Handling.Dataset(new DatasetSettings("my-claims", "", eight, second)));
    assertThat(readDataset(Map.of()).handler())
        .isEqualTo(new Handling.Dataset(new DatasetSettings("my-lake", "", eight, second)));
    assertThatThrownBy(() -> read("firstclaim.handler.type", "dataset"))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage(
            "firstclaim.handler.dataset.bucket is not set: name the bucket that the dataset is kept"
                + " in");
  }

  @Test
  void datasetsOwnSettings_areTaken() {
    assertThat(
            readDataset(
                    Map.of(
                        "firstclaim.handler.dataset.prefix", "a/lake/",
                        "firstclaim.handler.dataset.multipart-threshold", "5MB",
                        "firstclaim.handler.dataset.registry-interval", "200ms"))
                .handler())
        .isEqualTo(
            new Handling.Dataset(
                new DatasetSettings("my-lake", "a/lake/", 5 << 20, Duration.ofMillis(200))));
  }

  @ParameterizedTest
  @CsvSource({
    "bucket,a/b,a bucket has 3 to 63 of a-z A-Z 0-9 . _ -",
    "prefix,lake,'give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as lake/'",
    "prefix,../,'give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as lake/'",
    "multipart-threshold,4MB,'give a size from 5MB to 1024MB, such as 8MB'",
    "multipart-threshold,1025MB,'give a size from 5MB to 1024MB, such as 8MB'",
    "multipart-threshold,8388608,'give a size from 5MB to 1024MB, such as 8MB'",
    "registry-interval,0s,'give a duration such as 500ms, 30s, 5m, 12h or 8d'",
    "registry-interval,10001ms,'each record waits as long; give 10s at most, such as 1s'"
  })
  void wrongDatasetSetting_stopsTheStart(String name, String value, String remedy) {
    String property = "firstclaim.handler.dataset." + name;
    assertThatThrownBy(() -> readDataset(Map.of(property, value)))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage("%s=%s: %s".formatted(property, value, remedy));
  }

  @Test
  void timeLimitThatARecordMayWaitFor_stopsTheStart_withADatasetAlone() {
    Map<String, Object> short5 =
        Map.of(
            "firstclaim.handler.timeout", "5s",
            "firstclaim.handler.dataset.registry-interval", "10s");

    assertThatThrownBy(() -> readDataset(short5))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage(
            "firstclaim.handler.timeout=5s: a record may wait to be listed for twice"
                + " firstclaim.handler.dataset.registry-interval=10s; give 20s at least, or make"
                + " that shorter");
    assertThat(
            readDataset(
                    Map.of(
                        "firstclaim.handler.timeout", "20s",
                        "firstclaim.handler.dataset.registry-interval", "10s"))
                .handler())
        .isInstanceOf(Handling.Dataset.class);
    assertThat(read("firstclaim.handler.timeout", "1s").handler()).isNotNull();
  }

  @ParameterizedTest
  @CsvSource({"claims/,claims/", "'',datasets/", "'',metastore/x/", "a/,a/"})
  void datasetAmongTheClaims_stopsTheStart(String prefix, String claims) {
    Map<String, Object> sameBucket =
        Map.of(
            "firstclaim.handler.dataset.bucket", "my-claims",
            "firstclaim.handler.dataset.prefix", prefix,
            "firstclaim.claim.s3.prefix", claims);
    assertThatThrownBy(() -> readDataset(sameBucket))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessageStartingWith("firstclaim.handler.dataset.prefix=" + prefix)
        .hasMessageEndingWith(
            " must be apart from firstclaim.claim.s3.prefix=%s, where objects expire"
                .formatted(claims));
  }

  @Test
  void handlerWithoutItsTarget_stopsTheStart() {
    assertThatThrownBy(() -> read("firstclaim.handler.type", "http"))
        .hasMessage(
            "firstclaim.handler.http.url is not set: the http handler needs the URL to post to");
    assertThatThrownBy(() -> read("firstclaim.handler.type", "topic"))
        .hasMessage(
            "firstclaim.handler.topic.name is not set: the topic handler needs the topic to publish"
                + " to");
  }

  @Test
  void passwordInTheUrl_isNotShown() {
    assertThatThrownBy(() -> readHttp("firstclaim.handler.http.url", "http://me:s3cret@a b"))
        .message()
        .startsWith("firstclaim.handler.http.url=")
        .doesNotContain("s3cret");
  }

  private static ServiceSettings readHttp(String property, String value) {
    Map<String, Object> all =
        new HashMap<>(
            Map.of(
                "firstclaim.handler.type", "http",
                "firstclaim.handler.http.url", "http://127.0.0.1:8000/x"));
    all.put(property, value);
    return read(all);
  }

  @Test
  void httpHandler_hasItsUrlAndItsTimeout() {
    URI url = URI.create("http://127.0.0.1:8000/x");
    assertThat(readHttp("firstclaim.handler.http.timeout", "5s").handler())
        .isEqualTo(new Handling.Http(url, Duration.ofSeconds(5), StatusMeanings.DEFAULT));
    assertThat(readHttp("firstclaim.zone", "a").handler())
        .isEqualTo(new Handling.Http(url, Duration.ofSeconds(30), StatusMeanings.DEFAULT));
    assertThat(readHttp("firstclaim.handler.http.unavailable-on", "404, 500").handler())
        .isEqualTo(
            new Handling.Http(
                url, Duration.ofSeconds(30), new StatusMeanings(Set.of(404, 500), Set.of())));
    assertThat(readHttp("firstclaim.handler.http.dead-letter-on", "500").handler())
        .isEqualTo(
            new Handling.Http(
                url, Duration.ofSeconds(30), new StatusMeanings(Set.of(), Set.of(500))));
  }

  @Test
  void statusThatMeansTwoThings_stopsTheStart() {
    assertThatThrownBy(
            () ->
                read(
                    Map.of(
                        "firstclaim.handler.type", "http",
                        "firstclaim.handler.http.url", "http://127.0.0.1:8000/x",
                        "firstclaim.handler.http.unavailable-on", "404,500",
                        "firstclaim.handler.http.dead-letter-on", "500")))
        .hasMessage(
            "firstclaim.handler.http.dead-letter-on=500: name no status that is in"
                + " firstclaim.handler.http.unavailable-on too");
  }

  static Stream<Arguments> wrongHttpSettings() {
    return Stream.of(
        arguments(
            "url",
            "http://a b",
            "give an http or https URL, such as http://127.0.0.1:8000/records"),
        arguments(
            "url",
            "ftp://a/x",
            "'ftp://a/x' is not an http or https URL with a host, such as"
                + " http://127.0.0.1:8000/records"),
        arguments("timeout", "30", DURATION),
        arguments("unavailable-on", "404,200", STATUSES),
        arguments("unavailable-on", "4xx", STATUSES),
        arguments("dead-letter-on", "600", STATUSES));
  }

  @ParameterizedTest
  @MethodSource("wrongHttpSettings")
  void wrongHttpSetting_stopsTheStart(String name, String value, String remedy) {
    String property = "firstclaim.handler.http." + name;
    assertThatThrownBy(() -> readHttp(property, value))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage("%s=%s: %s".formatted(property, value, remedy));
  }

  @Test
  void topicHandler_hasItsTopic() {
    assertThat(readTopic("out").handler()).isEqualTo(new Handling.Topic("out"));
    assertThatThrownBy(() -> readTopic("a/b"))
        .hasMessage("firstclaim.handler.topic.name=a/b: " + TOPIC);
  }

  private static ServiceSettings readTopic(String name) {
    return read(Map.of("firstclaim.handler.type", "topic", "firstclaim.handler.topic.name", name));
  }

  @Test
  void folderOfHandlersThatIsNotThere_orHasNoJar_stopsTheStart(@TempDir Path empty) {
    assertThatThrownBy(() -> readOwnHandler("/not/there"))
        .hasMessage(
            "firstclaim.handler.path=/not/there: there is no such folder; name the folder of your"
                + " handler's jar");
    assertThatThrownBy(() -> readOwnHandler(empty.toString()))
        .hasMessage(
            "firstclaim.handler.path=%s: no jar is in this folder; put your handler's jar there"
                .formatted(empty));
  }

  private static ServiceSettings readOwnHandler(String path) {
    return read(Map.of("firstclaim.handler.type", "my-bean", "firstclaim.handler.path", path));
  }

  @Test
  void shadowMode_asksForNoHandler_andLeavesThatOfTheApplicationInForceUnused() {
    ServiceSettings settings =
        readWithout(
            "firstclaim.handler.type",
            Map.of(
                "firstclaim.mode", "shadow",
                "firstclaim.application", "orders",
                "firstclaim.handler.http.url", "http://localhost/orders"));

    assertThat(settings.handler()).isEqualTo(new Handling.None());
    assertThat(settings.unused()).containsExactly("firstclaim.handler.http.url");
    assertThat(settings.engine().input().group()).isEqualTo("orders-a-shadow");
    assertThat(settings.inForce()).containsEntry("firstclaim.input.group", "orders-a-shadow");
    assertThat(settings.audit().settings().application()).isEqualTo("orders-shadow");
    assertThat(settings.audit().settings().namespace()).isEqualTo("orders-shadow");
    assertThat(settings.audit().settings().outcomesTopic()).isEqualTo("orders.outcomes-shadow");
  }
}
