package io.firstclaim.processor.service;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.dataset.UnreadableException;
import io.firstclaim.processor.engine.api.ShortRetentionException;
import io.firstclaim.processor.engine.api.TopicRefusedException;
import io.firstclaim.processor.service.cli.AdminCommand;
import io.firstclaim.processor.service.config.Arguments;
import io.firstclaim.processor.service.config.HandlerJars;
import io.firstclaim.processor.service.config.Help;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.SettingsReader;
import io.firstclaim.processor.service.config.StoreSettings;
import io.firstclaim.processor.service.config.WrongSettingException;
import io.firstclaim.processor.service.config.WrongSettingsException;
import io.firstclaim.processor.service.log.LogSettings;
import io.firstclaim.processor.service.redrive.Redrives;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.CommandLinePropertySource;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.http.server.exceptions.ServerStartupException;
import io.micronaut.runtime.server.EmbeddedServer;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the service and ends it: with exit code 0 when it is told to stop, with 1 and one line
 * that says why when it cannot start or go on, or one line for each wrong setting. With the
 * argument {@code probe} it only tries the lock store and prints what that does: 0 if claims can
 * rest on it, 1 if not, 2 and one line if it cannot be tried. With {@code claim ID} it only prints
 * what the lock store has for that record: 0 if it has something, 1 if not, 2 and one line if it
 * cannot be asked. With {@code dataset} it only does what that says; see {@link DatasetCommand}.
 * {@code --help} and {@code --version} answer, other arguments are settings, such as {@code
 * -firstclaim.zone=a}.
 */
public final class Application {
  /** Found before the first logger is made. */
  private static final List<WrongSettingException> LOG_FAULTS = logFaults();

  private static final Logger LOG = LoggerFactory.getLogger(Application.class);

  private static final AtomicBoolean failed = new AtomicBoolean();

  private static volatile int exitCode;

  private Application() {}

  /** Called by the launcher. */
  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals("admin")) {
      System.exit(AdminCommand.run(System.getenv(), Arrays.copyOfRange(args, 1, args.length)));
    }
    if (args.length > 0 && args[0].equals("dataset")) {
      System.exit(dataset(Arguments.mixed(Arrays.copyOfRange(args, 1, args.length))));
    }
    try {
      Arguments arguments = Arguments.parse(args);
      switch (arguments.command()) {
        case HELP -> System.out.println(Help.text());
        case VERSION -> System.out.println("firstclaim " + version());
        case PROBE -> System.exit(onStore(arguments, Application::probe));
        case CLAIM -> System.exit(onStore(arguments, store -> claim(store, arguments)));
        case SERVE -> serve(arguments);
      }
    } catch (WrongSettingException e) {
      tell(e);
      System.exit(2);
    }
  }

  private static List<WrongSettingException> logFaults() {
    List<WrongSettingException> faults = LogSettings.faults(System.getenv());
    if (!faults.isEmpty()) {
      LogSettings.silence();
    }
    return faults;
  }

  private static String version() {
    return Optional.ofNullable(Application.class.getPackage().getImplementationVersion())
        .orElse("(not packaged)");
  }

  /** A context that is not started yet. Its classes are the service's and those added to them. */
  private static ApplicationContext context(Arguments arguments, ClassLoader classes) {
    return ApplicationContext.builder()
        .classLoader(classes)
        .propertySources(
            PropertySource.of(
                "arguments", arguments.settings(), CommandLinePropertySource.POSITION))
        .banner(false)
        .bootstrapEnvironment(false)
        .build();
  }

  private static void serve(Arguments arguments) {
    try {
      ApplicationContext context = startedContext(arguments);
      ServiceSettings settings =
          SettingsReader.read(
              context.getEnvironment(), context.getBean(OwnHandlers.class), LOG_FAULTS);
      context.registerSingleton(ServiceSettings.class, settings);
      show(settings);
      // In parallel with the rest, to be up sooner: neither needs the other.
      Thread.ofPlatform().name("firstclaim-http").start(() -> listen(context));
      Service service = context.getBean(Service.class);
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(service, context)));
      if (settings.tokenFile().isPresent()) {
        context.getBean(Redrives.class).start(); // without tokens there is nobody to begin one
      }
      service.run();
    } catch (InterruptedException e) {
      LOG.debug("Stopped while starting");
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  /** The started context, with the user's handlers if the settings say where they are. */
  private static ApplicationContext startedContext(Arguments arguments) {
    ClassLoader own = Application.class.getClassLoader();
    ApplicationContext context = context(arguments, own);
    Environment environment = context.getEnvironment().start();
    Optional<ClassLoader> handlers =
        HandlerJars.load(environment.getProperty(HandlerJars.PROPERTY, String.class), own);
    if (handlers.isEmpty()) {
      return context.start();
    }
    // Micronaut remembers what it found for a class loader, so this takes a context of its own.
    environment.close();
    Thread.currentThread().setContextClassLoader(handlers.get());
    return context(arguments, handlers.get()).start();
  }

  private static void show(ServiceSettings settings) {
    LOG.info(
        "Settings in force: {}",
        settings.inForce().entrySet().stream()
            .map(Map.Entry::toString)
            .collect(Collectors.joining(", ")));
    if (!settings.unused().isEmpty()) {
      LOG.info(
          "Not used with this backend and this handler: {}", String.join(", ", settings.unused()));
    }
  }

  private static void listen(ApplicationContext context) {
    try {
      context.getBean(EmbeddedServer.class).start();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private static int probe(StoreSettings settings) {
    Probe probe = Probe.of(settings);
    System.out.println(probe.table());
    return probe.accepted() ? 0 : 1;
  }

  private static int claim(StoreSettings settings, Arguments arguments) {
    String id = Objects.requireNonNull(arguments.id());
    StoredClaim found = StoredClaim.of(settings, id, TimeSource.system());
    System.out.println(found.table());
    return found.claim().isPresent() ? 0 : 1;
  }

  /** Does this with the lock store alone; returns the exit code. */
  private static int onStore(Arguments arguments, ToIntFunction<StoreSettings> command) {
    ClassLoader classes = Application.class.getClassLoader();
    try (Environment environment = context(arguments, classes).getEnvironment()) {
      environment.start();
      if (!LOG_FAULTS.isEmpty()) {
        LOG_FAULTS.forEach(Application::tell);
        return 2;
      }
      return command.applyAsInt(SettingsReader.readStore(environment));
    } catch (RuntimeException e) {
      LOG.debug("The lock store cannot be asked", e);
      tell(e);
      return 2;
    }
  }

  /** Does this with the dataset alone; returns the exit code. */
  private static int dataset(Arguments.Mixed given) {
    Arguments arguments = new Arguments(Arguments.Command.SERVE, given.settings(), null);
    ClassLoader classes = Application.class.getClassLoader();
    try (Environment environment = context(arguments, classes).getEnvironment()) {
      environment.start();
      if (!LOG_FAULTS.isEmpty()) {
        LOG_FAULTS.forEach(Application::tell);
        return 2;
      }
      Supplier<DatasetSettings> settings = () -> SettingsReader.readDataset(environment);
      return DatasetCommand.run(settings, Application::toldOfDataset, given.others());
    }
  }

  private static int toldOfDataset(Exception fault) {
    LOG.debug("The dataset cannot be asked", fault);
    tell(fault);
    return 2;
  }

  /**
   * Ends the process because of this; of several faults, only the first is reported. Returns at
   * once: the stop may well wait for the caller's thread.
   */
  static void fail(Throwable fault) {
    LOG.debug("Cannot go on", fault);
    if (failed.getAndSet(true)) {
      return;
    }
    tell(fault);
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
    // A JVM ended by a signal would report that signal.
    Runtime.getRuntime().halt(exitCode);
  }

  private static void tell(Throwable fault) {
    List<String> lines =
        fault instanceof WrongSettingsException wrong ? wrong.lines() : List.of(reason(fault));
    lines.forEach(line -> System.err.println("firstclaim: " + line));
  }

  /**
   * The one line that helps: that of the innermost fault written for people, or of the last one.
   */
  private static String reason(Throwable fault) {
    Throwable last = fault;
    for (@Nullable Throwable t = fault; t != null; t = t.getCause()) {
      last = t;
      if (t instanceof WrongSettingException
          || t instanceof StoreRefusedException
          || t instanceof TopicRefusedException
          || t instanceof StoreUnavailableException
          || t instanceof UnreadableException) {
        break;
      }
      if (t instanceof ShortRetentionException) {
        return OneLine.of(
            "firstclaim.claim.retention: %s (firstclaim.input.replay-horizon)"
                .formatted(t.getMessage()));
      }
      if (t instanceof ConfigException) {
        return OneLine.of("a setting under kafka: " + t.getMessage());
      }
      if (t instanceof ConfigurationException && t.getMessage() != null) {
        return OneLine.of(
            "a setting under otel: " + t.getMessage().replaceFirst("(?s)headers=.*", "headers"));
      }
      if (t instanceof AuthenticationException || t instanceof AuthorizationException) {
        return OneLine.of(
            "Kafka refuses the service: %s; check kafka.security.protocol, kafka.sasl.* and kafka.ssl.*"
                .formatted(t.getMessage()));
      }
      if (t instanceof ServerStartupException && t.getCause() != null) {
        return OneLine.of(
            "micronaut.server.port: %s; choose another one".formatted(t.getCause().getMessage()));
      }
    }
    return OneLine.of(last.getMessage() == null ? last.toString() : last.getMessage());
  }
}
