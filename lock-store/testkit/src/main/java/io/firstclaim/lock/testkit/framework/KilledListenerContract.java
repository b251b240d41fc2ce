package io.firstclaim.lock.testkit.framework;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two instances of an application as processes, one after the other, which share a store; the first
 * is killed while its listener is at work.
 *
 * <p>The listener has the {@link Diary} {@linkplain Diary#pay pay} each value, one after the other,
 * once for each ID.
 */
public abstract class KilledListenerContract {
  private static final List<String> VALUES = List.of("v0", "v1", "v2", "v3", "v4");
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final DiaryApplication application;

  /** A contract that this application keeps. */
  protected KilledListenerContract(DiaryApplication application) {
    this.application = application;
  }

  /** Sends the listener these values in this order, each with itself as its ID. */
  protected abstract void send(List<String> values) throws Exception;

  @Test
  void instanceThatIsKilledInItsListener_isFollowedByAnother_whichDoesEachRecordOnce(
      @TempDir Path folder) throws Exception {
    Diary diary = Diary.ofATest(folder.resolve("diary"));
    send(Stream.concat(VALUES.stream(), VALUES.stream()).toList()); // each twice
    diary.add("hang", "killed");
    try (ChildJvm killed = application.start("killed", diary)) {
      killed.awaitReady("at its first record", () -> !diary.of("killed", "hangs").isEmpty(), LIMIT);
      killed.kill();
    }
    try (ChildJvm other = application.start("other", diary)) {
      other.awaitReady(
          "done with all", () -> diary.of("other", "pays").contains(VALUES.getLast()), LIMIT);
      other.terminate();
      assertThat(other.waitFor(LIMIT)).isTrue();
    }
    assertThat(diary.of("killed", "pays")).containsExactly(VALUES.getFirst());
    assertThat(diary.of("other", "pays")).containsExactlyElementsOf(VALUES);
  }
}
