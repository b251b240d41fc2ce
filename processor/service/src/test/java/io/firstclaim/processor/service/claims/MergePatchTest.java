package io.firstclaim.processor.service.claims;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MergePatchTest {
  @TempDir private Path folder;

  private static Optional<String> patched(String before, String patch) {
    return MergePatch.parse(patch).orElseThrow().applyTo(Optional.of(before));
  }

  /** The largest document of S3, in which each three characters would be an object of a tree. */
  static final class LargeDocument {
    private LargeDocument() {}

    public static void main(String[] args) {
      String many = "{},".repeat((8 << 20) / 3 - 20);
      String after = patched("{\"all\":[" + many + "{}],\"n\":1}", "{\"n\":2}").orElseThrow();
      if (!after.endsWith("{}],\"n\":2}")) {
        throw new IllegalStateException(after.substring(after.length() - 20));
      }
    }
  }

  @Test
  void largeDocument_isPatchedInAFewTimesItsSize() {
    JvmCommand command =
        JvmCommand.ofMain(
                "patch", System.getProperty("java.class.path"), LargeDocument.class.getName())
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withJvmArgs(List.of("-Xmx80m"));
    try (ChildJvm child = ChildJvm.start(command, folder.resolve("patch.log"))) {
      assertThat(child.waitFor(Duration.ofMinutes(5))).isTrue();
      assertThat(child.exitCode()).as(child.logTail()).isZero();
    }
  }

  @Test
  void patchThatChangesNothing_leavesTheDocumentAsItIsWritten() {
    String written = "{ \"a\" : 1.50, \"b\" : { \"c\" : [ 1, 2 ] } }";

    assertThat(patched(written, "{\"a\":1.50}")).hasValue(written);
    assertThat(patched(written, "{\"b\":{\"c\":[1,2]},\"x\":null}")).hasValue(written);
    assertThat(patched(written, "{}")).hasValue(written);
    assertThat(patched(written, "{\"a\":1.5}")).hasValue("{\"a\":1.5,\"b\":{\"c\":[1,2]}}");
    assertThat(patched("[1]", "{}")).hasValue("{}");
  }

  @Test
  void whatIsNoJson_isPatchedByNothing() {
    for (String text : List.of("", " ", "visits: 3", "{\"a\":1", "{} {}", "{\"a\":1,\"a\":2}")) {
      assertThat(patched(text, "{\"b\":1}")).as(text).isEmpty();
      assertThat(patched(text, "[]")).as(text).isEmpty();
    }
  }
}
