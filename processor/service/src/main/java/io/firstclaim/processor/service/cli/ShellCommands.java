package io.firstclaim.processor.service.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Attempted;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.Verdict;
import io.firstclaim.lock.keeper.KeptLease;
import io.firstclaim.lock.mutex.Acquisition;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import io.firstclaim.processor.service.cli.GuardedCommand.NotStartedException;
import io.firstclaim.processor.service.config.Backend;
import io.firstclaim.processor.service.config.StoreSettings;
import io.firstclaim.processor.service.store.LockStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What {@code lock} and {@code once} do: run a command of the user's while a lock or a claim is
 * held, whose lease is renewed whatever the command does. Each returns the exit code. For one
 * thread.
 */
final class ShellCommands implements AutoCloseable {
  /** What was asked for could not be had: come back later. That is EX_TEMPFAIL of sysexits.h. */
  static final int NOT_HAD = 75;

  /** The lock was lost, and the command was ended. */
  static final int LOST = 76;

  private static final int GIVEN_UP = 1;

  /** How long the store may take to answer how a command ended, once the lease is over. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final int MAX_SHOWN = 200;

  private final LockStore store;
  private final ClaimStore claims;
  private final TimeSource time;

  /**
   * Commands on the store of these settings; nothing is asked of it yet.
   *
   * @throws WrongSettingException if the store is one that no other process sees, or the AWS SDK
   *     lacks one of its settings
   */
  ShellCommands(StoreSettings settings, TimeSource time) {
    if (settings.backend() instanceof Backend.Memory) {
      throw new WrongSettingException(
          "firstclaim.claim.backend",
          "memory",
          "give dynamodb or s3: no other process sees memory");
    }
    this.store = LockStore.of(settings);
    this.claims = store.unverified(time);
    this.time = time;
  }

  private static void say(String text) {
    System.err.println("firstclaim: " + text);
  }

  private static Map<String, String> variables(String name, long token) {
    Map<String, String> variables = new HashMap<>();
    variables.put("FIRSTCLAIM_LOCK", name);
    variables.put("FIRSTCLAIM_TOKEN", Long.toString(token));
    return variables;
  }

  /**
   * Runs a command under a lock.
   *
   * @param wait how long to wait for the lock
   * @param atMost how long to hold it; null for as long as the command runs
   */
  int lock(String name, Duration wait, @Nullable Duration atMost, List<String> command)
      throws InterruptedException {
    Mutex any = new Mutex(claims, id("lock", name), time);
    Mutex mutex = atMost == null ? any : any.atMost(atMost);
    try (any) {
      return switch (mutex.acquireOrSay(wait)) {
        case Acquisition.Acquired(HeldMutex held) -> underLock(name, any, held, command);
        case Acquisition.NotAcquired(List<ClaimResult.InTheWay> inTheWay) -> {
          String by =
              inTheWay.stream()
                  .map(each -> each.by() == null ? "another" : OneLine.of(each.by(), MAX_SHOWN))
                  .collect(Collectors.joining(", "));
          say("lock %s: %s holds it".formatted(OneLine.of(name, MAX_SHOWN), by));
          yield NOT_HAD;
        }
      };
    } catch (StoreUnavailableException e) {
      FaultReport.tell(e);
      return NOT_HAD;
    }
  }

  private static int underLock(String name, Mutex mutex, HeldMutex held, List<String> command)
      throws InterruptedException {
    GuardedCommand running;
    try {
      running = GuardedCommand.start(command, variables(name, held.token()), false);
    } catch (NotStartedException e) {
      held.close();
      say(String.valueOf(e.getMessage()));
      return e.exitCode();
    }
    held.whenLost(() -> running.stop(held.untilTakeover()));
    try {
      int code = running.await();
      running.decide(code);
      held.close();
      if (running.isStopped()) {
        say("lock %s was lost, and its command was ended".formatted(OneLine.of(name, MAX_SHOWN)));
        code = LOST;
        running.decide(code);
      }
      mutex.close(); // this waits until the mutex is given back
      return code;
    } finally {
      running.close();
    }
  }

  /**
   * Runs a command once for all who name this ID.
   *
   * @param stores whether its output is stored, and printed to those who come later
   */
  int once(String name, boolean stores, List<String> command) throws InterruptedException {
    RecordId id = id("once", name);
    Deduplicator deduplicator =
        Deduplicator.builder(claims, time).atMost(Duration.ofDays(365)).build();
    try {
      return switch (deduplicator.claim(id, Fingerprint.none())) {
        case ClaimResult.Granted granted -> {
          Once once = new Once(name, stores, command, time);
          try {
            yield once.exitCode(deduplicator.attempt(granted, once, this::mayBeAnswered));
          } catch (StoreException e) {
            yield once.unrecorded(e);
          } finally {
            once.close();
          }
        }
        case ClaimResult.Done done -> {
          if (stores && done.result() != null) {
            // As the command gave it, whatever the locale.
            System.out.writeBytes(done.result().getBytes(UTF_8));
            System.out.flush();
          }
          yield 0;
        }
        case ClaimResult.Held held -> {
          say("%s: %s is at it".formatted(shown(name), OneLine.of(held.by(), MAX_SHOWN)));
          yield NOT_HAD;
        }
        case ClaimResult.Later later -> {
          say("%s: the next attempt is due at %s".formatted(shown(name), later.retryAt()));
          yield NOT_HAD;
        }
        case ClaimResult.Blocked _ -> NOT_HAD;
        case ClaimResult.Dead dead -> {
          say(
              "%s was given up: %s; redrive %s --reason WHY frees it"
                  .formatted(shown(name), OneLine.of(dead.cause(), MAX_SHOWN), shown(name)));
          yield GIVEN_UP;
        }
        case ClaimResult.Mismatch _ -> {
          say("%s is known with a payload: give this command another ID".formatted(shown(name)));
          yield GIVEN_UP;
        }
      };
    } catch (StoreUnavailableException e) {
      FaultReport.tell(e);
      return NOT_HAD;
    }
  }

  /** Whether to ask again how a command's end was taken; that the lease is over settles nothing. */
  private boolean mayBeAnswered(KeptLease lease) {
    return lease.lease().remaining(time.now()).plus(PATIENCE).isPositive();
  }

  private static String shown(String name) {
    return OneLine.of(name, MAX_SHOWN);
  }

  /** One attempt at what is to be done once. */
  static final class Once implements Deduplicator.Judged {
    private final String name;
    private final boolean stores;
    private final List<String> command;
    private final TimeSource time;
    private int code = NOT_HAD;
    private boolean lost;
    private @Nullable GuardedCommand started;

    Once(String name, boolean stores, List<String> command, TimeSource time) {
      this.name = name;
      this.stores = stores;
      this.command = command;
      this.time = time;
    }

    @Override
    public Verdict run(KeptLease lease) throws InterruptedException {
      if (!(lease.begin() instanceof SettleResult.Settled)) {
        say(
            "%s: its beginning is not known to be recorded, so it does not begin"
                .formatted(shown(name)));
        return new Verdict.Leave();
      }
      GuardedCommand running;
      try {
        running = GuardedCommand.start(command, variables(name, lease.token()), stores);
        started = running;
      } catch (NotStartedException e) {
        say(String.valueOf(e.getMessage()));
        code = e.exitCode();
        return new Verdict.Release(ClaimStore.AT_ONCE, lease.attempt(), "not started");
      }
      lease.whenLost(() -> running.stop(lease.lease().untilTakeover(time.now())));
      code = running.await();
      if (running.isStopped()) {
        lost = true;
        return new Verdict.Leave();
      }
      if (code != 0) {
        return new Verdict.Release(ClaimStore.AT_ONCE, lease.attempt(), "exit code " + code);
      }
      return stores ? withResult(running.output(), lease) : new Verdict.Complete(null);
    }

    private Verdict withResult(CommandOutput output, KeptLease lease) {
      return switch (output) {
        case CommandOutput.Text(String text) -> new Verdict.Complete(text);
        case CommandOutput.Unfit(String why) -> {
          say("the output is not stored: " + why);
          yield new Verdict.Complete(null);
        }
        case CommandOutput.Unread(String why) -> {
          say(
              "%s: the output could not be read, so it is not done: %s"
                  .formatted(shown(name), why));
          code = NOT_HAD;
          yield new Verdict.Release(ClaimStore.AT_ONCE, lease.attempt(), "its output was not read");
        }
      };
    }

    @Override
    public Verdict withoutResult(KeptLease lease, IllegalArgumentException tooLarge) {
      say("the output is not stored: %s".formatted(String.valueOf(tooLarge.getMessage())));
      return new Verdict.Complete(null);
    }

    /** No more comes of it: this process may end. */
    void close() {
      if (started != null) {
        started.close();
      }
    }

    /** What the call exits with, also if it is told to end just now. */
    int exitCode(Attempted attempted) {
      int exit =
          switch (attempted.answer()) {
            case SettleResult.Settled _ -> lost ? lost() : code;
            case SettleResult.Lost _ -> started == null ? notHad() : lost();
            case SettleResult.Unknown(String why) -> {
              say(
                  "%s: it is not known whether its end is recorded: %s"
                      .formatted(shown(name), why));
              yield NOT_HAD;
            }
          };
      if (started != null) {
        started.decide(exit);
      }
      return exit;
    }

    /**
     * What the call exits with if the store cannot record how the command ended; a fault that kept
     * it from beginning is thrown.
     */
    int unrecorded(StoreException fault) {
      if (started == null) {
        throw fault;
      }
      String why = OneLine.of(String.valueOf(fault.getMessage()));
      say("%s: it ran, and its end is not recorded: %s".formatted(shown(name), why));
      return NOT_HAD;
    }

    private int notHad() {
      say("%s: its claim was lost before it began, so nothing ran".formatted(shown(name)));
      return NOT_HAD;
    }

    private int lost() {
      say(
          "the lease on %s was lost: its command was ended, or another may run it"
              .formatted(shown(name)));
      return LOST;
    }
  }

  private static RecordId id(String command, String name) {
    try {
      return RecordId.parse(name);
    } catch (IllegalArgumentException e) {
      throw new WrongSettingException(
          command,
          OneLine.of(name, 100),
          "give a name of 1 to %d bytes".formatted(RecordId.MAX_BYTES));
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
