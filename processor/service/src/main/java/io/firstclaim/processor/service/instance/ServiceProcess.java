package io.firstclaim.processor.service.instance;

import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.service.cli.FaultReport;
import io.firstclaim.processor.service.config.ArgumentSettings;
import io.firstclaim.processor.service.config.ClaimServerSettings;
import io.firstclaim.processor.service.config.HandlerJars;
import io.firstclaim.processor.service.config.InstanceSettings;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.SettingsReader;
import io.firstclaim.processor.service.handler.OwnHandlers;
import io.firstclaim.processor.service.redrive.Redrives;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.runtime.server.EmbeddedServer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process of a service: it ends with exit code 0 when it is told to stop, with 1 when it cannot
 * start or go on, and then says why.
 */
public final class ServiceProcess {
  private static final Logger LOG = LoggerFactory.getLogger(ServiceProcess.class);

  private static final AtomicBoolean failed = new AtomicBoolean();

  private static volatile int exitCode;

  /** Whether this process is ending: what is closed by then does not start any more. */
  private static volatile boolean ending;

  private ServiceProcess() {}

  /**
   * Starts the service with these settings and those given otherwise. Returns the exit code if it
   * cannot start; once it runs, the process ends by itself.
   */
  public static int run(ArgumentSettings arguments) {
    AtomicReference<Runnable> atEnd = new AtomicReference<>(() -> {}); // nothing is served yet
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(atEnd.get())));
    try {
      ApplicationContext context = startedContext(arguments);
      InstanceSettings settings = registered(context);
      show(settings);
      // In parallel with the rest, to be up sooner: neither needs the other.
      Thread http = Thread.ofPlatform().name("firstclaim-http").start(() -> listen(context));
      Served service = context.getBean(Served.class);
      atEnd.set(() -> stop(service, http, context));
      if (settings instanceof ServiceSettings && settings.tokenFile().isPresent()) {
        Redrives redrives = context.getBean(Redrives.class);
        redrives.start(); // without tokens there is nobody to begin one
        context.getBean(Pausing.class).await(redrives.log());
      }
      service.run();
      new CountDownLatch(1).await(); // never returns: the stop ends the process
      return 0;
    } catch (InterruptedException e) {
      LOG.debug("Stopped while starting");
      return 0;
    } catch (RuntimeException | Error e) {
      if (ending) {
        LOG.info("Stopped while starting: {}", OneLine.of(e));
        return 0;
      }
      fail(e);
      return 1;
    }
  }

  /** The settings, read and given to all that is made. */
  private static InstanceSettings registered(ApplicationContext context) {
    Environment environment = context.getEnvironment();
    if (SettingsReader.servesClaimsAlone(environment)) {
      ClaimServerSettings settings = SettingsReader.readClaimServer(environment);
      context.registerSingleton(ClaimServerSettings.class, settings);
      return settings;
    }
    ServiceSettings settings = SettingsReader.read(environment, context.getBean(OwnHandlers.class));
    context.registerSingleton(ServiceSettings.class, settings);
    return settings;
  }

  /** The started context, with the user's handlers if the settings say where they are. */
  private static ApplicationContext startedContext(ArgumentSettings arguments) {
    ClassLoader own = ServiceProcess.class.getClassLoader();
    ApplicationContext context = arguments.context(own);
    Environment environment = context.getEnvironment().start();
    Optional<ClassLoader> handlers = HandlerJars.load(environment, own);
    if (handlers.isEmpty()) {
      return context.start();
    }
    // Micronaut remembers what it found for a class loader, so this takes a context of its own.
    environment.close();
    Thread.currentThread().setContextClassLoader(handlers.get());
    return arguments.context(handlers.get()).start();
  }

  private static void show(InstanceSettings settings) {
    LOG.info(
        "Settings in force: {}",
        settings.inForce().entrySet().stream()
            .map(Map.Entry::toString)
            .collect(Collectors.joining(", ")));
    if (!settings.unused().isEmpty()) {
      LOG.info(
          "Not used with this backend and this handler: {}", String.join(", ", settings.unused()));
    }
    if (settings instanceof ClaimServerSettings && settings.tokenFile().isEmpty()) {
      LOG.warn(
          "Nobody can claim over HTTP: name the tokens of claimers in firstclaim.admin.token-file");
    }
  }

  private static void listen(ApplicationContext context) {
    try {
      context.getBean(EmbeddedServer.class).start();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  /**
   * Ends the process because of this; of several faults, only the first is reported. Returns at
   * once: the stop may well wait for the caller's thread.
   */
  static void fail(Throwable fault) {
    if (failed.getAndSet(true)) {
      return;
    }
    FaultReport.tell(fault);
    exitCode = 1;
    // On a thread of its own: the shutdown waits for the thread that may have called this.
    Thread.ofPlatform().name("firstclaim-exit").start(() -> System.exit(exitCode));
  }

  private static void stop(Served service, Thread http, ApplicationContext context) {
    inGoodOrder(
        () -> {
          Duration left = service.stop();
          Step closing =
              () -> {
                http.join(); // a server that is still starting would make anew what is closed
                context.close();
              };
          // No other instance waits for any of it, and clients of what is away take their time.
          if (!isOverWithin(left, closing)) {
            LOG.info("Not all was closed within {}: the process ends all the same", left);
          }
        });
  }

  /** A step of a stop. */
  interface Step {
    void make() throws InterruptedException;
  }

  /** Makes a step on a thread of its own; false if it is not over in time. */
  static boolean isOverWithin(Duration limit, Step step) throws InterruptedException {
    return Thread.ofPlatform().name("firstclaim-close").start(() -> inGoodOrder(step)).join(limit);
  }

  private static void inGoodOrder(Step step) {
    try {
      step.make();
    } catch (InterruptedException | RuntimeException e) {
      LOG.error("Did not stop in good order", e);
      exitCode = 1;
    }
  }

  /** A JVM that is ended by a signal would report that signal. */
  private static void end(Runnable stop) {
    ending = true;
    stop.run();
    Runtime.getRuntime().halt(exitCode);
  }
}
