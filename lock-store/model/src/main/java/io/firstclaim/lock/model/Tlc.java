package io.firstclaim.lock.model;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * TLC, the model checker of TLA+, in a process of its own: it keeps its state in statics. With one
 * worker, so that its figures are the same each time. Thread-safe, where the directories differ.
 */
public final class Tlc {
  /** Ends what hangs, and bounds nothing else: a machine may be slow. */
  private static final Duration HANGS = Duration.ofHours(1);

  private final Path specifications;

  /**
   * TLC for these specifications.
   *
   * @param specifications the directory of the modules, {@code docs/tla}
   */
  public Tlc(Path specifications) {
    this.specifications = specifications;
  }

  /**
   * Whether a store's writes are a behaviour of the protocol. If not, the {@linkplain
   * TlcResult#output() output} ends with the first illegal write.
   *
   * @param traceData the module {@code TraceData}, in the format that {@code ClaimTrace.tla} says
   * @param scratch a directory of its own
   */
  public TlcResult checkTrace(String traceData, Path scratch) {
    return check("ClaimTrace", text("ClaimTrace.cfg"), Map.of("TraceData.tla", traceData), scratch);
  }

  /**
   * Checks a module to its end, or until something does not hold.
   *
   * @param module without {@code .tla}
   * @param configuration what its {@code .cfg} would say
   * @param more files that it needs, by their names
   * @param scratch a directory of its own
   * @throws IllegalStateException if TLC comes to no result
   */
  public TlcResult check(
      String module, String configuration, Map<String, String> more, Path scratch) {
    try {
      Files.createDirectories(scratch);
      Path specification = scratch.resolve(module + ".tla").toAbsolutePath();
      Files.writeString(specification, text(module + ".tla"));
      Files.writeString(scratch.resolve(module + ".cfg"), configuration);
      for (Map.Entry<String, String> file : more.entrySet()) {
        Files.writeString(scratch.resolve(file.getKey()), file.getValue());
      }
      Path log = scratch.resolve("tlc.log");
      Files.deleteIfExists(log);
      JvmCommand command =
          JvmCommand.ofMain("TLC on " + module, jar(), "tlc2.TLC")
              .withJvmArgs(
                  List.of(
                      "-XX:+UseSerialGC",
                      "-Xmx2g",
                      // It unpacks its standard modules there, and would read what another unpacks.
                      "-Djava.io.tmpdir=" + scratch.toAbsolutePath()))
              .withArgs(
                  List.of(
                      "-workers",
                      "1",
                      "-nowarning",
                      "-metadir",
                      scratch.resolve("states").toAbsolutePath().toString(),
                      specification.toString()));
      try (ChildJvm tlc = ChildJvm.start(command, log)) {
        if (!tlc.waitFor(HANGS)) {
          throw new IllegalStateException(
              "TLC has no result after %s; the end of %s:%n%s"
                  .formatted(HANGS, log, tlc.logTail()));
        }
      }
      return TlcResult.of(Files.readString(log));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String text(String file) {
    try {
      return Files.readString(specifications.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String jar() {
    try {
      return Path.of(tlc2.TLC.class.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException("TLC's jar is not a file", e);
    }
  }
}
