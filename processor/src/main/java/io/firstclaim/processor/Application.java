package io.firstclaim.processor;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.processor.config.WrongSettingException;
import io.micronaut.context.ApplicationContext;
import io.micronaut.http.server.exceptions.ServerStartupException;
import io.micronaut.runtime.server.EmbeddedServer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the service and ends it: with exit code 0 when it is told to stop, with 1 and one line
 * that says why when it cannot start or go on.
 */
public final class Application {
  private static final Logger LOG = LoggerFactory.getLogger(Application.class);

  private static final AtomicBoolean failed = new AtomicBoolean();

  private static volatile int exitCode;

  private Application() {}

  /** Called by the launcher. */
  public static void main(String[] args) {
    try {
      ApplicationContext context = ApplicationContext.builder(args).banner(false).start();
      // Beside the rest, to be up sooner: neither needs the other.
      Thread.ofPlatform().name("firstclaim-http").start(() -> serve(context));
      Service service = context.getBean(Service.class);
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(service, context)));
      service.run();
    } catch (InterruptedException e) {
      LOG.debug("Stopped while starting");
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private static void serve(ApplicationContext context) {
    try {
      context.getBean(EmbeddedServer.class).start();
    } catch (RuntimeException | Error e) {
      fail(e);
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
      if (t instanceof WrongSettingException || t instanceof StoreRefusedException) {
        break;
      }
      if (t instanceof ServerStartupException && t.getCause() != null) {
        return "micronaut.server.port: %s; choose another one".formatted(t.getCause().getMessage());
      }
    }
    String message = last.getMessage() == null ? last.toString() : last.getMessage();
    return message.replaceAll("\\p{Cntrl}+", " ");
  }
}
