package io.firstclaim.processor.service.config;

import io.firstclaim.processor.dataset.DatasetSettings;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the settings of the {@code dataset} handler. */
final class DatasetReader {
  private static final String OWN = "firstclaim.handler.dataset.";
  private static final Pattern BUCKET = Pattern.compile("[a-zA-Z0-9._-]{3,63}");
  private static final Pattern PREFIX =
      Pattern.compile("(?=.{1,200}$)((?!\\.{1,2}/)[a-zA-Z0-9._-]+/)+");
  private static final Pattern SIZE = Pattern.compile("([1-9]\\d{0,3})MB");

  /** S3 takes no smaller part but the last; a record of more than the most is none of Kafka's. */
  private static final int LEAST_MB = 5;

  private static final int MOST_MB = 1024;

  /** A record waits as long in its handler. */
  private static final Duration LONGEST_INTERVAL = Duration.ofSeconds(10);

  private DatasetReader() {}

  /**
   * The settings.
   *
   * @param given the value of a property, if it has one
   * @param duration the value of a property that is a positive duration, or what it is by default
   * @param claims where claims are, if they are on S3
   * @throws WrongSettingException if one is wrong or missing
   */
  static DatasetSettings read(
      Function<String, Optional<String>> given,
      BiFunction<String, String, Duration> duration,
      Optional<ServiceSettings.S3> claims) {
    String bucket =
        given
            .apply(OWN + "bucket")
            .or(() -> claims.map(ServiceSettings.S3::bucket))
            .orElseThrow(
                () ->
                    new WrongSettingException(
                        OWN + "bucket", null, "name the bucket that the dataset is kept in"));
    if (!BUCKET.matcher(bucket).matches()) {
      throw new WrongSettingException(
          OWN + "bucket", bucket, "a bucket has 3 to 63 of a-z A-Z 0-9 . _ -");
    }
    String prefix = given.apply(OWN + "prefix").orElse("");
    if (!prefix.isEmpty() && !PREFIX.matcher(prefix).matches()) {
      throw new WrongSettingException(
          OWN + "prefix",
          prefix,
          "give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as lake/");
    }
    claims
        .filter(there -> there.bucket().equals(bucket))
        .ifPresent(there -> requireApart(prefix, there.prefix()));
    return new DatasetSettings(
        bucket,
        prefix,
        bytes(given.apply(OWN + "multipart-threshold").orElse("8MB")),
        interval(duration.apply(OWN + "registry-interval", "1s")));
  }

  private static Duration interval(Duration given) {
    if (given.compareTo(LONGEST_INTERVAL) > 0) {
      throw new WrongSettingException(
          OWN + "registry-interval",
          given.toMillis() + "ms",
          "each record waits as long; give 10s at most, such as 1s");
    }
    return given;
  }

  /** Claims expire, and with them whatever is under their prefix. */
  private static void requireApart(String prefix, String claims) {
    for (String folder : new String[] {prefix + "datasets/", prefix + "metastore/"}) {
      if (folder.startsWith(claims) || claims.startsWith(folder)) {
        throw new WrongSettingException(
            OWN + "prefix",
            prefix,
            "%s must be apart from firstclaim.claim.s3.prefix=%s, where objects expire"
                .formatted(folder, claims));
      }
    }
  }

  private static int bytes(String value) {
    Matcher size = SIZE.matcher(value);
    int megabytes = size.matches() ? Integer.parseInt(size.group(1)) : 0;
    if (megabytes < LEAST_MB || megabytes > MOST_MB) {
      throw new WrongSettingException(
          OWN + "multipart-threshold",
          value,
          "give a size from %dMB to %dMB, such as 8MB".formatted(LEAST_MB, MOST_MB));
    }
    return megabytes << 20;
  }
}
