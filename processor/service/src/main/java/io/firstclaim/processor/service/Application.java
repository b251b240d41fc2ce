package io.firstclaim.processor.service;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.processor.engine.api.ShortRetentionException;
import io.firstclaim.processor.engine.api.TopicRefusedException;
import io.firstclaim.processor.service.config.SettingsReader;
import io.firstclaim.processor.service.config.WrongSettingException;
import io.firstclaim.processor.service.log.LogSettings;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.http.server.exceptions.ServerStartupException;
import io.micronaut.runtime.server.EmbeddedServer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.config.ConfigException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the service and ends it: with exit code 0 when it is told to stop, with 1 and one line
 * that says why when it cannot start or go on. With the argument {@code probe} it only tries the
 * lock store and prints what that does: 0 if claims can rest on it, 1 if not, 2 and one line if it
 * cannot be tried. Other arguments are settings, such as {@code -firstclaim.zone=a}.
 */
public final class Application {
  private static final Logger LOG = LoggerFactory.getLogger(Application.class);

  private static final AtomicBoolean failed = new AtomicBoolean();

  private static volatile int exitCode;

  private Application() {}

  /** Called by the launcher. */
  public static void main(String[] args) {
    boolean serves = args.length == 0 || args[0].startsWith("-");
    try {
      LogSettings.check(System.getenv());
    } catch (WrongSettingException e) {
      System.err.println("firstclaim: " + e.getMessage());
      System.exit(serves ? 1 : 2);
    }
    if (serves) {
      serve(args);
    } else {
      System.exit(probe(args));
    }
  }

  private static void serve(String[] args) {
    try {
      ApplicationContext context =
          ApplicationContext.builder(args).banner(false).bootstrapEnvironment(false).start();
      // Beside the rest, to be up sooner: neither needs the other.
      Thread.ofPlatform().name("firstclaim-http").start(() -> listen(context));
      Service service = context.getBean(Service.class);
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(service, context)));
      service.run();
    } catch (InterruptedException e) {
      LOG.debug("Stopped while starting");
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private static void listen(ApplicationContext context) {
    try {
      context.getBean(EmbeddedServer.class).start();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  /** Tries the lock store; the exit code. */
  private static int probe(String[] args) {
    try (Environment environment =
        ApplicationContext.builder(args).banner(false).build().getEnvironment()) {
      if (!args[0].equals("probe")) {
        throw new WrongSettingException(
            "argument", args[0], "give none, or probe to try the lock store");
      }
      environment.start();
      Probe probe = Probe.of(SettingsReader.readClaiming(environment));
      System.out.println(probe.table());
      return probe.accepted() ? 0 : 1;
    } catch (RuntimeException e) {
      LOG.debug("Cannot probe", e);
      System.err.println("firstclaim: " + reason(e));
      return 2;
    }
  }

  /**
   * Ends the process because of this; of several faults, the first is told. Returns at once: the
   * stop may well wait for the caller's thread.
   */
  static void fail(Throwable fault) {
    LOG.debug("Cannot go on", fault);
    if (failed.getAndSet(true)) {
      return;
    }
    System.err.println("firstclaim: " + reason(fault));
    exitCode = 1;
    // On a thread of its own: the shutdown waits for the thread that may have called this.
    Thread.ofPlatform().name("firstclaim-exit").start(() -> System.exit(exitCode));
  }

  private static void stop(Service service, ApplicationContext context) {
    try {
      service.stop();
      context.close();
    } catch (InterruptedException | RuntimeException e) {
      LOG.error("Did not stop in good order", e);
      exitCode = 1;
    }
    // A JVM that ends by a signal would report that signal.
    Runtime.getRuntime().halt(exitCode);
  }

  /** The one line that helps: of the innermost fault that was made for people, or of the last. */
  private static String reason(Throwable fault) {
    Throwable last = fault;
    for (@Nullable Throwable t = fault; t != null; t = t.getCause()) {
      last = t;
      if (t instanceof WrongSettingException
          || t instanceof StoreRefusedException
          || t instanceof TopicRefusedException
          || t instanceof StoreUnavailableException) {
        break;
      }
      if (t instanceof ShortRetentionException) {
        return "firstclaim.claim.retention: %s (firstclaim.input.replay-horizon)"
            .formatted(t.getMessage());
      }
      if (t instanceof ConfigException) {
        return "a setting under kafka: " + t.getMessage();
      }
      if (t instanceof ServerStartupException && t.getCause() != null) {
        return "micronaut.server.port: %s; choose another one".formatted(t.getCause().getMessage());
      }
    }
    String message = last.getMessage() == null ? last.toString() : last.getMessage();
    return message.replaceAll("\\p{Cntrl}+", " ");
  }
}
