package io.firstclaim.lock.testkit.framework;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.deduplicator.RunListener;
import io.firstclaim.lock.deduplicator.RunResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * What the instances of an application do, and what a test tells them: lines of one file, to which
 * each process adds its own. Thread-safe.
 *
 * @param writer of what is added
 */
public record Diary(Path file, String writer) implements RunListener {
  private static final String FILE = "diary.file";
  private static final String WRITER = "diary.writer";
  private static final String TEST = "test";

  /**
   * A run at the job that is due takes half a second, so that both instances are free at the next.
   */
  private static final int LOOKS = 25;

  private static final Duration LOOK = Duration.ofMillis(20);

  /**
   * A line.
   *
   * @param what it did
   * @param of whom or which
   */
  private record Line(String writer, String what, String of) {
    static Line parse(String text) {
      String[] words = text.split(" ", 3);
      return new Line(words[0], words[1], words[2]);
    }
  }

  /** An instance at work on a fire time, for which the other waits. */
  record Waiting(String forWhom, String fireTime) {}

  /** The diary of a test. */
  static Diary ofATest(Path file) {
    return new Diary(file, TEST);
  }

  /** The diary of this instance, if the JVM was started with {@link #settings}. */
  public static Diary ofThisInstance() {
    return new Diary(Path.of(System.getProperty(FILE)), System.getProperty(WRITER));
  }

  /** The JVM's arguments for an instance of this name. */
  List<String> settings(String instance) {
    return List.of("-D%s=%s".formatted(FILE, file), "-D%s=%s".formatted(WRITER, instance));
  }

  void add(String what, Object of) {
    try {
      Files.writeString(
          file,
          "%s %s %s%n".formatted(writer, what, of),
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<Line> lines() {
    try {
      String text = Files.exists(file) ? Files.readString(file, UTF_8) : "";
      String whole = text.substring(0, text.lastIndexOf('\n') + 1);
      return whole.lines().map(Line::parse).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Of whom or which a writer says that it did this, in its order. */
  List<String> of(String who, String what) {
    return lines().stream()
        .filter(line -> line.writer().equals(who) && line.what().equals(what))
        .map(Line::of)
        .toList();
  }

  /** How often a run at each ID went well. */
  Map<String, Long> ran() {
    return lines().stream()
        .filter(line -> line.what().equals("Ran"))
        .collect(Collectors.groupingBy(Line::of, Collectors.counting()));
  }

  /** The fire time at which an instance is, while the other waits for it. */
  Optional<Waiting> waiting() {
    List<Line> lines = lines();
    List<String> over =
        lines.stream()
            .filter(line -> Arrays.asList("Ran", "DoneBefore", "LeaseLost").contains(line.what()))
            .map(Line::of)
            .toList();
    return lines.stream()
        .filter(line -> line.what().startsWith("Busy-by-") && !over.contains(line.of()))
        .findAny()
        .map(line -> new Waiting(line.what().substring("Busy-by-".length()), line.of()));
  }

  /** The server of this instance is there. */
  public void listensAt(int port) {
    add("listens", port);
  }

  @Override
  public void ended(RecordId id, RunResult result, Duration took) {
    add(
        result instanceof RunResult.Busy busy
            ? "Busy-by-" + busy.by()
            : result.getClass().getSimpleName(),
        id);
  }

  private boolean isToldTo(String what) {
    return of(TEST, what).contains(writer);
  }

  private void hangIfTold(String where) throws InterruptedException {
    if (isToldTo("hang")) {
      add("hangs", where);
      new CountDownLatch(1).await();
    }
  }

  /** What a web handler does, or a listener, that is called once for each key. */
  public void pay(String payment) throws InterruptedException {
    add("pays", payment);
    hangIfTold("payment");
  }

  /** What a job does that one instance runs at a time. */
  public void sweep() throws InterruptedException {
    add("sweeps", "all");
    hangIfTold("sweep");
  }

  /** What a job does that is due each second: it works until it is over, or waited for. */
  public void bill() throws InterruptedException {
    add("bills", "all");
    CountDownLatch never = new CountDownLatch(1);
    boolean takesOver = isToldTo("take-over");
    for (int looks = 0; !takesOver && (looks < LOOKS || waiting().isPresent()); looks++) {
      if (looks == LOOKS) {
        add("stays", "bill"); // for good: nothing ends that wait but its own end
      }
      var unused = never.await(LOOK.toMillis(), TimeUnit.MILLISECONDS);
    }
  }
}
