package io.firstclaim.processor.service.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A command of the user's as a process that runs while something is held. Its input, its errors
 * and, unless they are to be stored, its output are this process's own. What ends this process in
 * good order ends the command first. Thread-safe.
 */
final class GuardedCommand {
  private static final int NOT_FOUND = 127;

  /** How long what is told to end may take, if there is no hurry. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  /** The highest number of a signal. */
  private static final int SIGNALS = 64;

  /** How long what is held may take to be given back once the command has ended. */
  private static final Duration TO_GIVE_BACK = Duration.ofSeconds(10);

  private final Process process;
  private final ProcessTree tree;
  private final boolean reads;
  private final Duration grace;
  private final Thread forwarding;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final CountDownLatch gone = new CountDownLatch(1);
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile boolean told;
  private volatile boolean stopped;
  private volatile int exitCode = ShellCommands.NOT_HAD;
  private CommandOutput output = new CommandOutput.Unread("it is not read");

  private GuardedCommand(Process process, boolean reads, Duration grace, Thread forwarding) {
    this.process = process;
    this.tree = new ProcessTree(process);
    this.reads = reads;
    this.grace = grace;
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
    return start(words, variables, reads, GRACE);
  }

  /**
   * The same.
   *
   * @param grace how long what is told to end may take, if there is no hurry
   */
  static GuardedCommand start(
      List<String> words, Map<String, String> variables, boolean reads, Duration grace)
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
      var command = new GuardedCommand(builder.start(), reads, grace, forwarding);
      started.complete(Optional.of(command));
      Thread _ = Thread.ofPlatform().daemon().name("firstclaim-watch").start(command::watch);
      return command;
    } catch (IOException | IllegalStateException e) {
      // The latter is that this process is ending already, and takes no hook any more.
      forget(forwarding);
      throw new NotStartedException(e);
    } finally {
      started.complete(Optional.empty()); // changes nothing once the command has begun
    }
  }

  /** What runs below it, or did when that was last looked at. */
  List<ProcessHandle> seen() {
    return tree.seen();
  }

  /**
   * Waits for its end; returns its exit code, 128 and more if a signal ended it. Unless it has
   * ended by itself, all that it has started is ended by then, too.
   */
  int await() throws InterruptedException {
    if (reads) {
      output = CommandOutput.read(process.getInputStream(), System.out);
    }
    ended.await();
    if (told) {
      gone.await();
    } else if (!isCutOff()) {
      tree.letGo(); // what it leaves behind is meant to go on
    }
    return process.waitFor();
  }

  /**
   * Waits for its end; if it did not end by itself, ends what it has started, which may hold its
   * output open.
   */
  private void watch() {
    try {
      tree.watch();
      if (!told && isCutOff()) {
        // This process may be about to get that signal, too, if it was sent to all at once.
        tree.endWithin(grace);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      ended.countDown();
    }
  }

  /** Whether it, once it has ended, did not end by itself. */
  private boolean isCutOff() throws InterruptedException {
    int code = process.waitFor();
    return stopped || (code > 128 && code <= 128 + SIGNALS);
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
    tree.endWithin(left.compareTo(grace) < 0 ? left : grace);
  }

  /** Whether it was ended because the lease was lost. */
  boolean isStopped() {
    return stopped;
  }

  /** This process was told to end, so the command is told to end, and all that it has started. */
  private void end() {
    told = true;
    tree.tell();
    var _ = process.onExit().join(); // however long it takes: what is held is renewed
    tree.endWithin(grace); // with what it has left behind meanwhile
    gone.countDown();
    try {
      boolean _ = over.await(TO_GIVE_BACK.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(exitCode);
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
