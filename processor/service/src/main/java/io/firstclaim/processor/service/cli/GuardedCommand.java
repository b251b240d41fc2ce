package io.firstclaim.processor.service.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A command of the user's as a process that runs while something is held. Its input, its errors
 * and, unless they are to be stored, its output are this process's own. What ends this process in
 * good order ends the command first. Thread-safe.
 */
final class GuardedCommand {
  private static final int NOT_FOUND = 127;

  /** How long what is told to end may take, if there is no hurry. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  /** How long what is held may take to be given back once the command has ended. */
  private static final Duration TO_GIVE_BACK = Duration.ofSeconds(10);

  private final Process process;
  private final boolean reads;
  private final Thread forwarding;
  private final CountDownLatch gone = new CountDownLatch(1);
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile boolean told;
  private volatile boolean stopped;
  private volatile int exitCode = ShellCommands.NOT_HAD;
  private CommandOutput output = new CommandOutput.Unread("it is not read");

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

    /** The exit code of a shell in this case. */
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
      started.complete(Optional.empty()); // changes nothing once the command has begun
    }
  }

  /**
   * Waits for its end and, if this process was told to end, for that of all that it has started;
   * returns its exit code, 128 and more if a signal ended it.
   */
  int await() throws InterruptedException {
    if (reads) {
      output = CommandOutput.read(process.getInputStream(), System.out);
    }
    int code = process.waitFor();
    if (told) {
      gone.await();
    }
    return code;
  }

  /** What it has written, if that was to be stored. */
  CommandOutput output() {
    return output;
  }

  /**
   * Ends it and all that it has started, as the lease is lost: first kindly, then not.
   *
   * @param left until another may have the lease
   */
  void stop(Duration left) {
    stopped = true;
    endWithin(left.compareTo(GRACE) < 0 ? left : GRACE, tell());
  }

  /** Whether it was ended because the lease was lost. */
  boolean isStopped() {
    return stopped;
  }

  /** This process was told to end, so the command is told to end, and all that it has started. */
  private void end() {
    told = true;
    List<ProcessHandle> all = tell();
    var _ = process.onExit().join(); // however long it takes: what is held is renewed
    endWithin(GRACE, all);
    gone.countDown();
    try {
      boolean _ = over.await(TO_GIVE_BACK.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(exitCode);
  }

  /**
   * Tells it and all that it has started to end; it first, as else it may begin something new. By
   * its handle, as the process itself would close the pipe of its last words.
   */
  private List<ProcessHandle> tell() {
    List<ProcessHandle> all =
        Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList();
    all.forEach(ProcessHandle::destroy);
    return all;
  }

  /** Waits until these are gone, and then kills what is left, with what that has started since. */
  private static void endWithin(Duration grace, List<ProcessHandle> all) {
    if (!areGoneWithin(grace, all)) {
      List<ProcessHandle> left =
          all.stream()
              .flatMap(each -> Stream.concat(Stream.of(each), each.descendants()))
              .distinct()
              .toList();
      left.forEach(ProcessHandle::destroyForcibly);
      // Not without a bound: where nobody reaps them, as in some containers, they never go.
      boolean _ = areGoneWithin(GRACE, left);
    }
  }

  private static boolean areGoneWithin(Duration bound, List<ProcessHandle> all) {
    return CompletableFuture.allOf(
            all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new))
        .thenApply(_ -> true)
        .completeOnTimeout(false, bound.toMillis(), TimeUnit.MILLISECONDS)
        .join();
  }

  /**
   * Says what this process exits with if it was told to end. Until this is called, that is the code
   * for coming back later.
   */
  void decide(int code) {
    exitCode = code;
  }

  /** The command has ended, and what was held is given back: this process may end by itself. */
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
