package io.firstclaim.lock.testkit.process;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A Java program running as a child process, its output in a log file.
 *
 * <p>The child dies with this JVM whatever ends it, even {@code kill -9}, and even while the child
 * is paused: a shell of a few kilobytes waits on a pipe that only this JVM holds open, and kills
 * the child by its ID when the pipe breaks. A Ctrl-C at the terminal does not reach the child, so
 * that this JVM decides in which order its children stop.
 */
public final class ChildJvm implements AutoCloseable {
  private static final List<String> FOREIGN_SETTINGS =
      List.of("FIRSTCLAIM_", "KAFKA_", "MICRONAUT_", "AWS_");

  /** It is looked whether a child is ready after a tenth of the time waited, within these. */
  private static final Duration OFTEN = Duration.ofMillis(50);

  private static final Duration SELDOM = Duration.ofMillis(500);

  /** However busy the machine: what a process has is taken from it before it is gone. */
  private static final Duration GONE_WITHIN = Duration.ofMinutes(2);

  private static final int TAIL_LINES = 30;
  private static final int TAIL_BYTES = 16_384;

  private final String name;
  private final Path log;
  private final Process process;

  private ChildJvm(String name, Path log, Process process) {
    this.name = name;
    this.log = log;
    this.process = process;
  }

  /** Starts the program; its output is appended to {@code log}. */
  public static ChildJvm start(JvmCommand command, Path log) {
    return start(command, log, List.of());
  }

  /** Starts a program whose {@code scratch} directories are removed if this JVM ends before it. */
  public static ChildJvm start(JvmCommand command, Path log, List<Path> scratch) {
    List<String> line = new ArrayList<>(List.of("sh", "-c", "trap '' INT; exec \"$@\"", "sh"));
    line.addAll(command.line());
    ProcessBuilder builder =
        new ProcessBuilder(line)
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    Map<String, String> env = builder.environment();
    env.keySet().removeIf(key -> FOREIGN_SETTINGS.stream().anyMatch(key::startsWith));
    env.putAll(command.env());
    try {
      Path directory = log.toAbsolutePath().getParent();
      if (directory != null) {
        Files.createDirectories(directory);
      }
      Process process = builder.start();
      watch(process, scratch);
      return new ChildJvm(command.name(), log, process);
    } catch (IOException e) {
      throw new StackException(command.name() + " cannot be started: " + e.getMessage(), e);
    }
  }

  private static void watch(Process child, List<Path> scratch) throws IOException {
    String script = "trap '' INT; read line; kill -9 " + child.pid() + "; rm -rf -- \"$@\"";
    List<String> line = new ArrayList<>(List.of("sh", "-c", script, "sh"));
    scratch.forEach(path -> line.add(path.toString()));
    Process watchdog =
        new ProcessBuilder(line)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    var unused = child.onExit().thenRun(watchdog::destroyForcibly);
  }

  public String name() {
    return name;
  }

  public long pid() {
    return process.pid();
  }

  public Path log() {
    return log;
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** The exit code of a child that has ended; one that was killed has 128 plus the signal. */
  public int exitCode() {
    return process.exitValue();
  }

  /**
   * Waits until {@code ready} is true.
   *
   * @param what the awaited state in words, for the message
   * @throws StackException with the end of the log if the child ends or the time runs out first
   */
  public void awaitReady(String what, BooleanSupplier ready, Duration timeout) {
    long start = System.nanoTime();
    while (!ready.getAsBoolean()) {
      Duration waited = Duration.ofNanos(System.nanoTime() - start);
      if (!process.isAlive()) {
        throw new StackException(
            "%s ended with exit code %d before it was %s; the end of %s:%n%s"
                .formatted(name, process.exitValue(), what, log, logTail()));
      }
      if (waited.compareTo(timeout) > 0) {
        throw new StackException(
            "%s was not %s within %s s; the end of %s:%n%s"
                .formatted(name, what, timeout.toSeconds(), log, logTail()));
      }
      Duration tenth = waited.dividedBy(10);
      sleep(tenth.compareTo(OFTEN) < 0 ? OFTEN : tenth.compareTo(SELDOM) > 0 ? SELDOM : tenth);
    }
  }

  /** Stops the process where it is (SIGSTOP); returns once it stands still. */
  public void pause() {
    signal("STOP");
    awaitStandstill();
  }

  /**
   * The signal stops nothing before one of the threads takes it, and on a busy machine that one may
   * wait for a CPU while the others go on. Known where there is {@code /proc}.
   */
  private void awaitStandstill() {
    Path threads = Path.of("/proc", Long.toString(pid()), "task");
    long deadline = System.nanoTime() + GONE_WITHIN.toNanos();
    while (Files.exists(threads) && !allStopped(threads)) {
      if (System.nanoTime() > deadline) {
        throw new StackException(name + " (process " + pid() + ") goes on after SIGSTOP");
      }
      sleep(Duration.ofMillis(1));
    }
  }

  private static boolean allStopped(Path threads) {
    try (Stream<Path> all = Files.list(threads)) {
      return all.allMatch(ChildJvm::isStopped);
    } catch (IOException | UncheckedIOException e) {
      return false; // the process ends
    }
  }

  /** By its state, which follows the name in parentheses: proc_pid_stat(5). */
  private static boolean isStopped(Path thread) {
    try {
      String stat = Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
      return stat.startsWith(") T", stat.lastIndexOf(')'));
    } catch (IOException e) {
      return true; // a thread that has ended
    }
  }

  /** Lets a paused process go on (SIGCONT). */
  public void resume() {
    signal("CONT");
  }

  /** Asks the process to end (SIGTERM) and does not wait. */
  public void terminate() {
    process.destroy();
  }

  /** Ends the process at once (SIGKILL) and waits until it is gone. */
  public void kill() {
    process.destroyForcibly();
    if (!waitFor(GONE_WITHIN)) {
      throw new StackException(name + " (process " + pid() + ") survives kill -9");
    }
  }

  /** Waits for the end of the process; false if it still runs after {@code timeout}. */
  public boolean waitFor(Duration timeout) {
    try {
      return process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StackException("interrupted while waiting for " + name, e);
    }
  }

  /** The last lines of the log. */
  public String logTail() {
    try (var file = Files.newByteChannel(log)) {
      file.position(Math.max(0, file.size() - TAIL_BYTES));
      var buffer = ByteBuffer.allocate(TAIL_BYTES);
      while (buffer.hasRemaining() && file.read(buffer) >= 0) {
        // Until the end of the file.
      }
      String text = new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8);
      List<String> lines = text.lines().toList();
      return String.join(
          System.lineSeparator(),
          lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the process at once if it still runs. */
  @Override
  public void close() {
    if (process.isAlive()) {
      kill();
    }
  }

  private void signal(String signal) {
    try {
      Process kill = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid()).start();
      if (kill.waitFor() != 0) {
        throw new StackException(name + " (process " + pid() + ") cannot be sent SIG" + signal);
      }
    } catch (IOException e) {
      throw new StackException("no shell to send SIG" + signal, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StackException("interrupted while sending SIG" + signal, e);
    }
  }

  private static void sleep(Duration duration) {
    try {
      Thread.sleep(duration);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StackException("interrupted while waiting", e);
    }
  }
}
