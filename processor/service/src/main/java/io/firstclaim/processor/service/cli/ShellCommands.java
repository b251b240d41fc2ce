package io.firstclaim.processor.service.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
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
  /** It could not be had: come back later. That is EX_TEMPFAIL of sysexits.h. */
  static final int NOT_HAD = 75;

  /** It was lost, and the command was ended. */
  static final int LOST = 76;

  private static final int GIVEN_UP = 1;
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
    try (any) { // which waits until it is given back
      return switch (mutex.acquireOrSay(wait)) {
        case Acquisition.Acquired(HeldMutex held) -> underLock(name, held, command);
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

  private static int underLock(String name, HeldMutex held, List<String> command)
      throws InterruptedException {
    GuardedCommand running;
    try {
      running = GuardedCommand.start(command, variables(name, held.token()), false);
    } catch (NotStartedException e) {
      held.close();
      say(String.valueOf(e.getMessage()));
      return e.exitCode();
    }
    held.whenLost(running::stop);
    int code = running.await();
    held.close();
    running.close();
    if (running.isStopped()) {
      say("lock %s was lost, and its command was ended".formatted(OneLine.of(name, MAX_SHOWN)));
      return LOST;
    }
    return code;
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
          Once once = new Once(name, stores, command);
          int code = once.exitCode(deduplicator.attempt(granted, once));
          once.close();
          yield code;
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

  private static String shown(String name) {
    return OneLine.of(name, MAX_SHOWN);
  }

  /** One attempt at what is to be done once. */
  private static final class Once implements Deduplicator.Judged {
    private final String name;
    private final boolean stores;
    private final List<String> command;
    private int code = NOT_HAD;
    private @Nullable GuardedCommand started;

    Once(String name, boolean stores, List<String> command) {
      this.name = name;
      this.stores = stores;
      this.command = command;
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
      lease.whenLost(running::stop);
      code = running.await();
      if (running.isStopped()) {
        code = LOST;
        return new Verdict.Leave();
      }
      if (code != 0) {
        return new Verdict.Release(ClaimStore.AT_ONCE, lease.attempt(), "exit code " + code);
      }
      if (stores && running.output() == null) {
        say(
            "the output has more than %d bytes and is not stored"
                .formatted(GuardedCommand.MAX_STORED));
      }
      return new Verdict.Complete(stores ? running.output() : null);
    }

    @Override
    public Verdict withoutResult(KeptLease lease, IllegalArgumentException tooLarge) {
      say("the output is not stored: %s".formatted(String.valueOf(tooLarge.getMessage())));
      return new Verdict.Complete(null);
    }

    /** Its end is recorded. */
    void close() {
      if (started != null) {
        started.close();
      }
    }

    int exitCode(Attempted attempted) {
      return switch (attempted.answer()) {
        case SettleResult.Settled _ -> told(code);
        case SettleResult.Lost _ -> told(LOST);
        case SettleResult.Unknown(String why) -> {
          say("%s: it is not known whether its end is recorded: %s".formatted(shown(name), why));
          yield NOT_HAD;
        }
      };
    }

    private int told(int exit) {
      if (exit == LOST) {
        say(
            "the lease on %s was lost: its command was ended, or another may run it"
                .formatted(shown(name)));
      }
      return exit;
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
