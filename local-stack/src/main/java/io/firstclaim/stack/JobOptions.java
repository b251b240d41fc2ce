package io.firstclaim.stack;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;

/**
 * The main job's options, from system properties.
 *
 * @param processorJar {@code processor.jar}: the packaged processor
 * @param backend {@code backend}: {@code dynamodb}, the default, or {@code s3}
 * @param aws {@code aws.table} or {@code aws.bucket}: an empty table, or a bucket, in AWS to use in
 *     place of a server of the job's own
 * @param input {@code input}: a file with one JSON document per line; none for the sample
 * @param kill {@code kill}: kill -9 one zone half-way, start it again later
 * @param poison {@code poison}: one record in fifty always fails
 * @param keep {@code keep}: leave everything running until Ctrl-C
 * @param directory {@code local.dir}: for logs and data
 */
record JobOptions(
    Path processorJar,
    Backend backend,
    Optional<String> aws,
    Optional<Path> input,
    boolean kill,
    boolean poison,
    boolean keep,
    Path directory) {

  static JobOptions from(Properties properties) {
    String jar = value(properties, "processor.jar");
    if (jar.isEmpty()) {
      throw new JobFailure("processor.jar is not set: the path of the packaged processor");
    }
    if (!Files.isRegularFile(Path.of(jar))) {
      throw new JobFailure(
          "processor.jar=" + jar + ": there is no such file; mvn package makes it");
    }
    String input = value(properties, "input");
    Backend backend = backend(value(properties, "backend"));
    String aws = value(properties, backend.awsProperty());
    return new JobOptions(
        Path.of(jar).toAbsolutePath(),
        backend,
        aws.isEmpty() ? Optional.empty() : Optional.of(aws),
        input.isEmpty() ? Optional.empty() : Optional.of(Path.of(input)),
        isOn(properties, "kill"),
        isOn(properties, "poison"),
        isOn(properties, "keep"),
        Path.of(properties.getProperty("local.dir", "target/local")).toAbsolutePath());
  }

  private static Backend backend(String name) {
    return switch (name) {
      case "", "dynamodb" -> Backend.DYNAMODB;
      case "s3" -> Backend.S3;
      default -> throw new JobFailure("backend=" + name + ": give dynamodb or s3");
    };
  }

  /** {@code -Dkill} and {@code -Dkill=true} are on. */
  private static boolean isOn(Properties properties, String name) {
    boolean bare = "".equals(properties.getProperty(name));
    String value = value(properties, name);
    return switch (value) {
      case "" -> bare;
      case "true" -> true;
      case "false" -> false;
      default -> throw new JobFailure(name + "=" + value + ": give true or false");
    };
  }

  /** The value, empty for none; Maven passes on {@code ${name}} for a property that nobody set. */
  private static String value(Properties properties, String name) {
    String value = properties.getProperty(name, "");
    return value.equals("${" + name + "}") ? "" : value;
  }
}
