package io.firstclaim.processor.service.cli;

import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A process and all that runs below it. Who runs below one that is dead cannot be asked any more,
 * so it is looked at now and then. Thread-safe.
 */
final class ProcessTree {
  /** How long what was killed may take to be gone. */
  private static final Duration TO_BE_REAPED = Duration.ofSeconds(5);

  /** How often it is looked what runs below the process. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  /** The same once they are told to end, as what they begin then is soon nobody's. */
  private static final Duration LOOK_AT_THE_END = Duration.ofMillis(100);

  private final Process root;

  // Guarded by this.
  private List<ProcessHandle> seen = List.of();
  private List<ProcessHandle> latest = List.of();
  private boolean isEnding;
  private final Set<ProcessHandle> told = new HashSet<>();

  /**
   * Those that have ended. Where nobody reaps them, as in a container whose first process this one
   * is, they count as alive for ever.
   */
  private final Set<ProcessHandle> gone = ConcurrentHashMap.newKeySet();

  ProcessTree(Process root) {
    this.root = root;
  }

  /** Looks until the process has ended. Blocks. */
  void watch() throws InterruptedException {
    while (!root.waitFor(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
      look();
    }
  }

  /**
   * Notes what runs below it, beside what the look before has found: a signal that was sent to all
   * at once may have ended some of that already, and so cut off what it had started. What has
   * detached itself before, as a daemon does, is forgotten; once they are told to end, nothing is.
   */
  private synchronized void look() {
    Stream<ProcessHandle> from = isEnding ? left() : Stream.of(root.toHandle()).filter(this::lives);
    Set<ProcessHandle> now = new LinkedHashSet<>();
    for (ProcessHandle each : from.toList()) {
      if (!now.contains(each)) { // else all below it is found by now, too
        each.descendants().forEach(now::add);
      }
    }
    boolean isWhole = !isEnding && runs(root);
    seen =
        Stream.concat((isWhole ? latest : seen).stream(), now.stream())
            .distinct()
            .filter(this::lives)
            .toList();
    if (isWhole) {
      latest = List.copyOf(now);
    }
  }

  /**
   * Whether it has not ended. One that has is called alive until it is reaped, but runs nothing.
   */
  private static boolean runs(Process process) {
    ProcessHandle.Info info = process.info();
    return info.commandLine().or(info::command).isPresent();
  }

  /** Of a dead one, another process may have the number. */
  private boolean lives(ProcessHandle each) {
    return !gone.contains(each) && each.isAlive();
  }

  /** All that lives. */
  private Stream<ProcessHandle> left() {
    return Stream.concat(Stream.of(root.toHandle()), seen.stream()).filter(this::lives);
  }

  /** What runs below it, or did when that was last looked at. */
  synchronized List<ProcessHandle> seen() {
    return seen;
  }

  /** What the process has left behind is not ended with it. */
  synchronized void letGo() {
    seen = List.of();
  }

  /**
   * Tells it and all that it has started to end, each once. It first, as else it may begin
   * something new. By its handle, as the process itself would close the pipe of its last words.
   * What those who were told begin, to tidy up perhaps, is theirs, until they are dead.
   *
   * @return what is left
   */
  synchronized List<ProcessHandle> tell() {
    isEnding = true;
    look();
    List<ProcessHandle> untold =
        left().filter(each -> !told.contains(each) && !isLed(each)).toList();
    told.addAll(untold);
    untold.forEach(ProcessHandle::destroy);
    look(); // what they began before they heard
    return left().toList();
  }

  /** Whether one of those it descends from was told, and lives. */
  private boolean isLed(ProcessHandle each) {
    return Stream.iterate(
            each.parent(), Optional::isPresent, above -> above.flatMap(ProcessHandle::parent))
        .flatMap(Optional::stream)
        .anyMatch(told::contains);
  }

  /** Tells all to end, and waits until they are gone; then kills what is left. Blocks. */
  void endWithin(Duration grace) {
    var spent = within(grace, new CompletableFuture<>());
    List<ProcessHandle> left = tell();
    while (!left.isEmpty() && !spent.isDone()) {
      var _ = within(LOOK_AT_THE_END, CompletableFuture.anyOf(spent, ends(left))).join();
      left = tell();
    }
    left.forEach(ProcessHandle::destroyForcibly);
    // Not without a bound: where nobody reaps them, as in some containers, they never go.
    var _ = within(TO_BE_REAPED, ends(left)).join();
  }

  private CompletableFuture<Void> ends(List<ProcessHandle> all) {
    return CompletableFuture.allOf(
        all.stream()
            .map(each -> each.onExit().thenAccept(gone::add))
            .toArray(CompletableFuture<?>[]::new));
  }

  private static <T> CompletableFuture<T> within(Duration bound, CompletableFuture<T> future) {
    return future.completeOnTimeout(null, bound.toMillis(), TimeUnit.MILLISECONDS);
  }
}
