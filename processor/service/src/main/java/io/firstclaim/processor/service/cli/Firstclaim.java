package io.firstclaim.processor.service.cli;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.setting.Setting;
import io.firstclaim.processor.engine.setting.Syntax;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import io.firstclaim.processor.service.config.ArgumentSettings;
import io.firstclaim.processor.service.config.ServiceCatalog;
import io.firstclaim.processor.service.config.SettingsReader;
import io.firstclaim.processor.service.store.BucketPolicies;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command line: {@code java -jar firstclaim.jar}, with a command, or without one to serve.
 * Among the arguments of all commands but {@code admin} there may be settings, such as {@code
 * -firstclaim.zone=a}. Exit codes: 0; 1 if a command has found nothing, or something wrong, or if
 * the service cannot start or go on; 2 and a line that says why if it was called wrongly or cannot
 * be answered.
 */
@Command(
    name = "firstclaim",
    header = "Firstclaim processes each Kafka record once across zones.%n",
    customSynopsis = "java -jar firstclaim.jar [COMMAND] [-PROPERTY=VALUE ...]",
    description = "%nWithout a command, it is one instance of the service.%n",
    footer = {
      "",
      "Settings are arguments, system properties or environment variables: firstclaim.claim.lease"
          + " is",
      "FIRSTCLAIM_CLAIM_LEASE. In brackets: what holds without it.",
      "",
      ""
    },
    versionProvider = Firstclaim.Version.class,
    subcommands = HelpCommand.class)
public final class Firstclaim implements Callable<Integer> {
  private static final String CHOICES =
      "give none, probe to try the lock store, claim ID to read it, release ID or redrive ID to"
          + " free in it, policy to print its bucket's, dataset to read or mend the dataset, lock NAME or once ID to"
          + " run a command, admin,"
          + " --help, --version, or settings such as -firstclaim.zone=a";

  /** Commands that say with their own usage what is wrong with a call. */
  private static final Set<String> WITH_USAGE =
      Set.of("admin", "dataset", "release", "redrive", "lock", "once");

  /** What Java makes of an argument's bytes that are no text for it, whichever they are. */
  private static final String UNREADABLE = "\ufffd";

  /** Commands whose arguments name what runs: two names must not become one. */
  private static final Set<String> NAMING = Set.of("lock", "once");

  private final ToIntFunction<ArgumentSettings> service;
  private ArgumentSettings given = ArgumentSettings.among(List.of());

  private Firstclaim(ToIntFunction<ArgumentSettings> service) {
    this.service = service;
  }

  /**
   * Does what the arguments say.
   *
   * @param service runs until the process ends, or cannot start and returns the exit code
   * @param variables of the environment
   * @return the exit code
   */
  public static int run(
      ToIntFunction<ArgumentSettings> service, Map<String, String> variables, String... args) {
    List<String> arguments = List.of(args);
    Optional<WrongSettingException> garbled =
        garbled(arguments, System.getProperty("native.encoding", "UTF-8"));
    if (garbled.isPresent()) {
      FaultReport.tell(garbled.get());
      return 2;
    }
    // A service needs no command, and starts sooner if picocli does not learn of them all.
    return arguments.stream().allMatch(ArgumentSettings::isOne)
        ? service.applyAsInt(ArgumentSettings.among(arguments))
        : line(service, variables).execute(args);
  }

  /**
   * What is wrong with arguments that are not what was given: without a locale, as in cron, all
   * that is not ASCII looks alike.
   */
  static Optional<WrongSettingException> garbled(List<String> arguments, String charset) {
    boolean mayBeText = charset.equals("UTF-8") && arguments.stream().noneMatch(NAMING::contains);
    return arguments.stream()
        .filter(argument -> !mayBeText && argument.contains(UNREADABLE))
        .findFirst()
        .map(
            argument ->
                new WrongSettingException(
                    "argument",
                    argument,
                    "it has bytes that are no text in %s; give UTF-8, and set LC_ALL=C.UTF-8"
                        .formatted(charset)));
  }

  static CommandLine line(ToIntFunction<ArgumentSettings> service, Map<String, String> variables) {
    Firstclaim commands = new Firstclaim(service);
    CommandLine line =
        new CommandLine(commands)
            .addSubcommand(
                new DatasetCommand(() -> commands.given.read(SettingsReader::readDataset)))
            .addSubcommand(new AdminCommand(variables))
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setPosixClusteredShortOptionsAllowed(false)
            .setExpandAtFiles(false)
            .setUnmatchedArgumentsAllowed(true)
            .setUsageHelpWidth(100);
    Stream.of("claim", "release", "redrive")
        .map(name -> subcommand(line, name))
        .forEach(
            aboutAnId ->
                aboutAnId
                    .setUnmatchedOptionsArePositionalParams(true)
                    .setEndOfOptionsDelimiter(" "));
    Stream.of(
            line, subcommand(line, "serve"), subcommand(line, "probe"), subcommand(line, "policy"))
        .forEach(Firstclaim::addHelpAndVersion);
    line.getHelpSectionMap()
        .put(UsageMessageSpec.SECTION_KEY_FOOTER, help -> help.footer() + settings());
    IParameterExceptionHandler usual = line.getParameterExceptionHandler();
    return line.setExecutionStrategy(commands::execute)
        .setParameterExceptionHandler((fault, all) -> wrongCall(usual, fault, all))
        .setExecutionExceptionHandler((fault, of, _) -> failed(of, fault));
  }

  private static CommandLine subcommand(CommandLine line, String name) {
    return Objects.requireNonNull(line.getSubcommands().get(name));
  }

  private static void addHelpAndVersion(CommandLine line) {
    line.getCommandSpec()
        .addOption(
            OptionSpec.builder("-h", "-help", "--help")
                .usageHelp(true)
                .description("Says how it is used.")
                .build())
        .addOption(
            OptionSpec.builder("-V", "-version", "--version")
                .versionHelp(true)
                .description("Says which version it is.")
                .build());
  }

  /** The settings for the help, each on a line. */
  private static String settings() {
    List<Setting<?>> all =
        Stream.concat(ServiceCatalog.all().stream(), ServiceCatalog.ofOthers().stream()).toList();
    int width = all.stream().mapToInt(setting -> setting.name().length()).max().orElse(1);
    String line = "%-" + width + "s  [%s] %s%n";
    return all.stream()
        .map(
            setting ->
                line.formatted(setting.name(), setting.otherwise(), setting.meaning())
                    .replace("`", ""))
        .collect(Collectors.joining());
  }

  /** Runs the command that was given; an argument that none takes is a setting, or wrong. */
  private int execute(ParseResult parsed) {
    List<String> rest = new ArrayList<>();
    CommandLine last = parsed.commandSpec().commandLine();
    for (ParseResult at = parsed; at != null; at = at.subcommand()) {
      rest.addAll(at.unmatched());
      last = at.commandSpec().commandLine();
    }
    boolean takesSettings = !"admin".equals(command(last));
    List<String> wrong =
        rest.stream().filter(it -> !takesSettings || !ArgumentSettings.isOne(it)).toList();
    if (!wrong.isEmpty()) {
      throw new UnmatchedArgumentException(last, wrong);
    }
    given = ArgumentSettings.among(rest);
    return new RunLast().execute(parsed);
  }

  /** The command that this is or belongs to; blank if there is none. */
  private static String command(CommandLine line) {
    String name = "";
    for (CommandLine at = line; at.getParent() != null; at = at.getParent()) {
      name = at.getCommandName();
    }
    return name;
  }

  private static int wrongCall(
      IParameterExceptionHandler usual, ParameterException fault, String[] args) throws Exception {
    String command = command(fault.getCommandLine());
    if (WITH_USAGE.contains(command)) {
      return usual.handleParseException(fault, args);
    }
    FaultReport.tell(
        fault instanceof UnmatchedArgumentException unmatched
            ? new WrongSettingException("argument", unmatched.getUnmatched().getFirst(), CHOICES)
            : new WrongSettingException(
                "argument",
                command,
                "give one ID after it: a record's, or with one of --mutex, --resource and --board"));
    return 2;
  }

  private static int failed(CommandLine of, Exception fault) {
    if (command(of).equals("admin")) {
      return AdminCommand.failed(fault);
    }
    FaultReport.tell(fault);
    return 2;
  }

  /** The version of the package. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {
        "firstclaim "
            + Optional.ofNullable(Firstclaim.class.getPackage().getImplementationVersion())
                .orElse("(not packaged)")
      };
    }
  }

  @Override
  public Integer call() {
    return service.applyAsInt(given);
  }

  @Command(
      description = "One instance of the service; the same as no command.",
      versionProvider = Version.class)
  int serve() {
    return call();
  }

  @Command(
      description =
          "Tries the lock store as every start does, a line each check; 1 if claims cannot rest on"
              + " it. Says too what no policy of a bucket denies.",
      versionProvider = Version.class)
  int probe() {
    Probe probe = Probe.of(given.read(SettingsReader::readStore), policies());
    System.out.println(probe.table());
    return probe.accepted() ? 0 : 1;
  }

  private BucketPolicies policies() {
    return new BucketPolicies(given.read(SettingsReader::readProtected));
  }

  @Command(
      description = {
        "Prints the policy that the bucket of claims, and that of a dataset, should have; 1 if"
            + " neither is on S3.",
        "It denies everybody writes and deletes without a condition."
      },
      versionProvider = Version.class)
  int policy() {
    List<String> texts = policies().texts();
    if (texts.isEmpty()) {
      System.err.println("firstclaim: neither the claims nor a dataset are in a bucket of S3");
      return 1;
    }
    texts.forEach(System.out::print);
    return 0;
  }

  private StoreCommands onStore(Target target) {
    return new StoreCommands(given.read(SettingsReader::readStore), TimeSource.system(), target);
  }

  @Command(description = "Says what the lock store has for a record; 1 if that is nothing.")
  int claim(@Mixin Target target) {
    try (StoreCommands commands = onStore(target)) {
      return commands.claim();
    }
  }

  @Command(
      description = {
        "Frees in the lock store what somebody holds; 1 if nobody does.",
        "The holder is not told before its next step."
      })
  int release(
      @Mixin Target target,
      @Option(names = "--reason", required = true, description = "Kept with it.") String reason,
      @Option(
              names = "--to",
              paramLabel = "STATUS",
              description = "The status that an item of a board gets, as its program names it.")
          @Nullable String status) {
    try (StoreCommands commands = onStore(target)) {
      return commands.release(reason, status);
    }
  }

  @Command(
      description = {
        "Frees in the lock store a record that was given up; 1 if it was not.",
        "It is not delivered again by that: for a record of the service, call admin redrive."
      })
  int redrive(
      @Mixin Target target,
      @Option(names = "--reason", required = true, description = "Kept with it.") String reason) {
    try (StoreCommands commands = onStore(target)) {
      return commands.redrive(reason);
    }
  }

  @Command(
      description = {
        "Runs a command while a lock is held that no other process can hold; its exit code.",
        "75: the lock could not be had. 76: it was lost, and the command was ended. FIRSTCLAIM_LOCK"
            + " and FIRSTCLAIM_TOKEN are in the command's environment."
      })
  int lock(
      @Option(
              names = "--wait",
              paramLabel = "30s",
              description = "How long to wait for the lock; not at all if not given.")
          @Nullable String wait,
      @Option(
              names = "--at-most",
              paramLabel = "1h",
              description = "The command is ended after this long.")
          @Nullable String atMost,
      @Parameters(index = "0", paramLabel = "NAME", description = "Of the lock.") String name,
      @Parameters(
              index = "1..*",
              arity = "1..*",
              paramLabel = "COMMAND",
              description = "After --, with its arguments.")
          List<String> command)
      throws InterruptedException {
    Duration waits = wait == null ? Duration.ZERO : duration("--wait", wait, Syntax.DURATION);
    Duration bound = atMost == null ? null : duration("--at-most", atMost, Syntax.LENGTH);
    try (ShellCommands commands = shell()) {
      return commands.lock(name, waits, bound, command);
    }
  }

  @Command(
      description = {
        "Runs a command once for all who name this ID: 0 as soon as it has ended with 0.",
        "Later calls run nothing. 75: another is at it, or it is not known to be recorded. 76: it"
            + " was lost, and the command was ended. If it fails, its exit code, and the next call"
            + " runs it again."
      })
  int once(
      @Option(
              names = "--result-from-stdout",
              description =
                  "Stores what the command prints, 64 KiB at most; later calls with this option print it.")
          boolean stores,
      @Parameters(index = "0", paramLabel = "ID", description = "As it is printed.") String id,
      @Parameters(
              index = "1..*",
              arity = "1..*",
              paramLabel = "COMMAND",
              description = "After --, with its arguments.")
          List<String> command)
      throws InterruptedException {
    try (ShellCommands commands = shell()) {
      return commands.once(id, stores, command);
    }
  }

  private ShellCommands shell() {
    return new ShellCommands(given.read(SettingsReader::readStore), TimeSource.system());
  }

  private static Duration duration(String option, String text, Syntax<Duration> syntax) {
    try {
      return syntax.parse(text);
    } catch (IllegalArgumentException e) {
      throw new WrongSettingException(option, text, String.valueOf(e.getMessage()));
    }
  }

  /** Whether the output of a call is a command's own, or a list, so that no log may be in it. */
  public static boolean keepsLogsOutOfTheOutput(String... args) {
    return Stream.of(args)
        .filter(argument -> !ArgumentSettings.isOne(argument))
        .findFirst()
        .filter(Set.of("lock", "once", "dataset")::contains)
        .isPresent();
  }

  @Command(hidden = true, description = "Says which version it is.")
  int version() {
    System.out.println(new Version().getVersion()[0]);
    return 0;
  }
}
