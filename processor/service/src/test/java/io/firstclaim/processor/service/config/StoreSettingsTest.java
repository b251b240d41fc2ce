package io.firstclaim.processor.service.config;

import static io.firstclaim.processor.service.config.SettingsFixture.read;
import static io.firstclaim.processor.service.config.SettingsFixture.readS3;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.s3.ProtectedPrefix;
import io.firstclaim.processor.engine.setting.WrongSettingsException;
import io.micronaut.context.env.MapPropertySource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The settings of the claims, and of the store that keeps them. */
class StoreSettingsTest {
  @Test
  void store_isReadWithoutZoneTopicsAndKafka_andCheckedTheSame() {
    assertThat(read(SettingsReader::readStore, MapPropertySource.of("test", Map.of())).backend())
        .isEqualTo(new Backend.DynamoDb("firstclaim", 25, Duration.ofDays(1), false));
    assertThatThrownBy(
            () ->
                read(
                    SettingsReader::readStore,
                    MapPropertySource.of("test", Map.of("firstclaim.claim.lease", "soon"))))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessageStartingWith("firstclaim.claim.lease=soon: ");
  }

  @Test
  void s3_needsItsBucket_andHasADefaultPrefix() {
    assertThatThrownBy(() -> read("firstclaim.claim.backend", "s3"))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage(
            "firstclaim.claim.s3.bucket is not set: name the bucket that claims are kept in");
    assertThat(readS3(Map.of()).backend())
        .isEqualTo(new Backend.S3("my-claims", "claims/", Duration.ofDays(1), false));
    Map<String, Object> given =
        Map.of("firstclaim.claim.s3.prefix", "a/b.c/", "firstclaim.claim.s3.sweep", "0s");
    assertThat(readS3(given).backend())
        .isEqualTo(new Backend.S3("my-claims", "a/b.c/", Duration.ZERO, false));
  }

  @ParameterizedTest
  @ValueSource(strings = {"claims", "/", "/claims/", "a//b/", "a b/x/", "a b/", "a?x/"})
  void s3PrefixThatIsNoFolder_stopsTheStart(String prefix) {
    assertThatThrownBy(() -> readS3(Map.of("firstclaim.claim.s3.prefix", prefix)))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessageStartingWith("firstclaim.claim.s3.prefix=")
        .hasMessageEndingWith(
            "give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as claims/");
  }

  @ParameterizedTest
  @ValueSource(strings = {"b", "a/b", "a b", "arn:aws:s3:::claims"})
  void s3BucketThatIsNoName_stopsTheStart(String bucket) {
    assertThatThrownBy(() -> readS3(Map.of("firstclaim.claim.s3.bucket", bucket)))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage(
            "firstclaim.claim.s3.bucket=%s: a bucket has 3 to 63 of a-z A-Z 0-9 . _ -"
                .formatted(bucket));
  }

  @Test
  void leaseThatIsTooShortForTheSkew_stopsTheStart_withWhatIsNeeded() {
    assertThatThrownBy(() -> read("firstclaim.claim.lease", "1s"))
        .isInstanceOf(WrongSettingsException.class)
        .message()
        .startsWith("firstclaim.claim.lease=1s: ")
        .contains("clock difference of 1s", "need at least")
        .doesNotContain("\n");
  }

  // The buckets that should have a policy

  private static List<ProtectedBucket> buckets(String... settings) {
    return read(
        SettingsReader::readProtected,
        MapPropertySource.of("test", ArgumentSettings.among(List.of(settings)).byName()));
  }

  private static List<ProtectedPrefix> ofDataset(String prefix) {
    return List.of(
        ProtectedPrefix.once(prefix + "datasets/"),
        ProtectedPrefix.once(prefix + "metastore/manifests/"),
        ProtectedPrefix.onCondition(prefix + "metastore/"));
  }

  @Test
  void bucketOfClaims_isProtected_andWhatADatasetHasInIt() {
    ProtectedPrefix claims = ProtectedPrefix.onCondition("a/");
    assertThat(
            buckets(
                "-firstclaim.claim.backend=s3",
                "-firstclaim.claim.s3.bucket=one",
                "-firstclaim.claim.s3.prefix=a/"))
        .containsExactly(new ProtectedBucket("one", List.of(claims)));
    assertThat(
            buckets(
                "-firstclaim.claim.backend=s3",
                "-firstclaim.claim.s3.bucket=one",
                "-firstclaim.claim.s3.prefix=a/",
                "-firstclaim.handler.type=dataset",
                "-firstclaim.handler.dataset.prefix=lake/"))
        .containsExactly(
            new ProtectedBucket(
                "one", Stream.concat(Stream.of(claims), ofDataset("lake/").stream()).toList()));
  }

  @Test
  void bucketOfADatasetAlone_isProtected_whereverClaimsAre() {
    ProtectedBucket lake = new ProtectedBucket("lake", ofDataset(""));
    assertThat(buckets("-firstclaim.handler.dataset.bucket=lake")).containsExactly(lake);
    assertThat(
            buckets(
                "-firstclaim.claim.backend=s3",
                "-firstclaim.claim.s3.bucket=one",
                "-firstclaim.handler.dataset.bucket=lake"))
        .hasSize(2)
        .endsWith(lake);
    assertThat(buckets()).isEmpty();
  }
}
