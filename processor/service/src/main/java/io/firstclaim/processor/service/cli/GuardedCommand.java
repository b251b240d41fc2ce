package io.firstclaim.processor.service.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

  /** How long what was killed may take to be gone. */
  private static final Duration TO_BE_REAPED = Duration.ofSeconds(5);

  /** How often it is looked what runs below the command. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  /** The highest number of a signal. */
  private static final int SIGNALS = 64;

  /** How long what is held may take to be given back once the command has ended. */
  private static final Duration TO_GIVE_BACK = Duration.ofSeconds(10);

  private final Process process;
  private final boolean reads;
  private final Duration grace;
  private final Thread forwarding;
  private final CountDownLatch gone = new CountDownLatch(1);
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile List<ProcessHandle> seen = List.of();
  private List<ProcessHandle> latest = List.of(); // guarded by this
  private boolean isEnding; // guarded by this
  private final Set<ProcessHandle> addressed = new HashSet<>(); // guarded by this
  private volatile boolean told;
  private volatile boolean stopped;
  private volatile int exitCode = ShellCommands.NOT_HAD;
  private CommandOutput output = new CommandOutput.Unread("it is not read");

  private GuardedCommand(Process process, boolean reads, Duration grace, Thread forwarding) {
    this.process = process;
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

  /** Looks now and then what it has started: once it is dead, nobody can say that any more. */
  private void watch() {
    try {
      while (!process.waitFor(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
        look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Notes what runs below it, beside what the look before has found: a signal that was sent to all
   * at once may have ended some of that already, and so cut off what it had started. What has
   * detached itself before, as a daemon does, is forgotten; once they are told to end, nothing is.
   */
  private synchronized void look() {
    Stream<ProcessHandle> roots =
        Stream.concat(
            Stream.of(process.toHandle()),
            isEnding ? seen.stream() : Stream.<ProcessHandle>empty());
    List<ProcessHandle> now =
        roots
            .filter(ProcessHandle::isAlive) // else another process may have its number
            .flatMap(ProcessHandle::descendants)
            .toList();
    boolean isWhole = process.isAlive() && !isEnding;
    seen = Stream.concat((isWhole ? latest : seen).stream(), now.stream()).distinct().toList();
    if (isWhole) {
      latest = now;
    }
  }

  /** What runs below it, or did when that was last looked at. */
  List<ProcessHandle> seen() {
    return seen;
  }

  /**
   * Waits for its end; returns its exit code, 128 and more if a signal ended it. Unless it has
   * ended by itself, all that it has started is ended by then, too.
   */
  int await() throws InterruptedException {
    if (reads) {
      output = CommandOutput.read(process.getInputStream(), System.out);
    }
    int code = process.waitFor();
    if (told) {
      gone.await();
    } else if (stopped || (code > 128 && code <= 128 + SIGNALS)) {
      // This process may be about to get that signal, too, if it was sent to all at once.
      endWithin(grace);
    } else {
      seen = List.of(); // what it leaves behind is meant to go on
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
    endWithin(left.compareTo(grace) < 0 ? left : grace);
  }

  /** Whether it was ended because the lease was lost. */
  boolean isStopped() {
    return stopped;
  }

  /** This process was told to end, so the command is told to end, and all that it has started. */
  private void end() {
    told = true;
    tell();
    var _ = process.onExit().join(); // however long it takes: what is held is renewed
    endWithin(grace); // with what it has left behind meanwhile
    gone.countDown();
    try {
      boolean _ = over.await(TO_GIVE_BACK.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(exitCode);
  }

  /**
   * Tells it and all that it has started to end, each once. It first, as else it may begin
   * something new. By its handle, as the process itself would close the pipe of its last words.
   * What those who were told begin, to tidy up perhaps, is theirs, until they are dead.
   *
   * @return what is left
   */
  private synchronized List<ProcessHandle> tell() {
    isEnding = true;
    look();
    List<ProcessHandle> untold =
        left().filter(each -> !addressed.contains(each) && !isLed(each)).toList();
    addressed.addAll(untold);
    untold.forEach(ProcessHandle::destroy);
    look(); // what they began before they heard
    return left().toList();
  }

  private synchronized Stream<ProcessHandle> left() {
    return Stream.concat(Stream.of(process.toHandle()), seen.stream())
        .filter(ProcessHandle::isAlive);
  }

  /** Whether one of those it descends from was told, and lives. */
  private synchronized boolean isLed(ProcessHandle each) {
    return Stream.iterate(
            each.parent(), Optional::isPresent, above -> above.flatMap(ProcessHandle::parent))
        .flatMap(Optional::stream)
        .anyMatch(addressed::contains);
  }

  /** Tells all to end, and waits until they are gone; then kills what is left. */
  private void endWithin(Duration grace) {
    var spent = within(grace, new CompletableFuture<>());
    List<ProcessHandle> left = tell();
    while (!left.isEmpty() && !spent.isDone()) {
      var _ = within(LOOK, CompletableFuture.anyOf(spent, ends(left))).join();
      left = tell();
    }
    left.forEach(ProcessHandle::destroyForcibly);
    // Not without a bound: where nobody reaps them, as in some containers, they never go.
    var _ = within(TO_BE_REAPED, ends(left)).join();
  }

  private static CompletableFuture<Void> ends(List<ProcessHandle> all) {
    return CompletableFuture.allOf(
        all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new));
  }

  private static <T> CompletableFuture<T> within(Duration bound, CompletableFuture<T> future) {
    return future.completeOnTimeout(null, bound.toMillis(), TimeUnit.MILLISECONDS);
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
