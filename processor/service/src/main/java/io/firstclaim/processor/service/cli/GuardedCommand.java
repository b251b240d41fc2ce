package io.firstclaim.processor.service.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A command of the user's as a process that runs while something is held. Its input, its errors
 * and, unless they are to be stored, its output are this process's own. What ends this process in
 * good order ends the command first. Thread-safe.
 */
final class GuardedCommand {
  /** The most of an output that is stored: a claim has no room for more. */
  static final int MAX_STORED = 64 << 10;

  private static final int NOT_FOUND = 127;

  /** How long a command that is told to end because its lease is lost may take. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  /** How long what is held may take to be given back once the command has ended. */
  private static final Duration TO_GIVE_BACK = Duration.ofSeconds(10);

  private final Process process;
  private final boolean reads;
  private final Thread forwarding;
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile boolean stopped;
  private @Nullable String output;
  private boolean tooLong;

  private GuardedCommand(Process process, boolean reads, Thread forwarding) {
    this.process = process;
    this.reads = reads;
    this.forwarding = forwarding;
  }

  /** The command could not be started; the message says why. */
  static final class NotStartedException extends Exception {
    private static final long serialVersionUID = 1L;

    private NotStartedException(Exception cause) {
      super(cause.getMessage(), cause);
    }

    /** What a shell exits with then. */
    int exitCode() {
      return NOT_FOUND;
    }
  }

  /**
   * Starts it.
   *
   * @param variables beside those of this process
   * @param reads whether its output is read, to be stored
   */
  static GuardedCommand start(List<String> words, Map<String, String> variables, boolean reads)
      throws NotStartedException {
    ProcessBuilder builder = new ProcessBuilder(words).inheritIO();
    if (reads) {
      builder.redirectOutput(ProcessBuilder.Redirect.PIPE);
    }
    builder.environment().putAll(variables);
    var started = new CompletableFuture<Optional<GuardedCommand>>();
    Thread forwarding =
        Thread.ofPlatform()
            .name("firstclaim-forward")
            .unstarted(() -> started.join().ifPresent(GuardedCommand::end));
    try {
      // Before the command begins: this process may be told to end in the next moment.
      Runtime.getRuntime().addShutdownHook(forwarding);
      var command = new GuardedCommand(builder.start(), reads, forwarding);
      started.complete(Optional.of(command));
      return command;
    } catch (IOException | IllegalStateException e) {
      // The latter is that this process is ending already, and takes no hook any more.
      forget(forwarding);
      throw new NotStartedException(e);
    } finally {
      started.complete(Optional.empty()); // unless it has begun
    }
  }

  /** Waits for its end; returns its exit code, 128 and more if a signal ended it. */
  int await() throws InterruptedException {
    if (reads) {
      read();
    }
    return process.waitFor();
  }

  /** Passes its output on, and keeps it. */
  private void read() {
    try (InputStream in = process.getInputStream()) {
      ByteArrayOutputStream kept = new ByteArrayOutputStream();
      byte[] some = new byte[8192];
      for (int length = in.read(some); length >= 0; length = in.read(some)) {
        System.out.write(some, 0, length);
        System.out.flush();
        if (kept.size() + length <= MAX_STORED) {
          kept.write(some, 0, length);
        } else {
          tooLong = true;
        }
      }
      output = tooLong ? null : kept.toString(StandardCharsets.UTF_8);
    } catch (IOException e) {
      tooLong = true; // whatever it was, it is not known
    }
  }

  /** What it has written, if that was to be stored; null if that is too long. */
  @Nullable String output() {
    return output;
  }

  /** Ends it and all that it has started, as the lease is lost: first kindly, then not. */
  void stop() {
    stopped = true;
    List<ProcessHandle> all = process.descendants().toList();
    all.forEach(ProcessHandle::destroy);
    process.destroy();
    try {
      if (!process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    all.forEach(ProcessHandle::destroyForcibly);
  }

  /** Whether it was ended because the lease was lost. */
  boolean isStopped() {
    return stopped;
  }

  /** This process was told to end: so is the command, and its exit code is this process's. */
  private void end() {
    process.destroy();
    int code = process.onExit().join().exitValue();
    try {
      boolean _ = over.await(TO_GIVE_BACK.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(code);
  }

  /** It has ended, and what was held is given back: this process may end by itself. */
  void close() {
    over.countDown();
    forget(forwarding);
  }

  private static void forget(Thread hook) {
    try {
      boolean _ = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // This process is ending already: the hook sees to the rest.
    }
  }
}
