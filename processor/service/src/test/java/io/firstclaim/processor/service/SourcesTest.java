package io.firstclaim.processor.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules of the house that concern sources and documents of all modules. */
class SourcesTest {
  private static final Path ROOT = Path.of("..", "..").normalize();
  private static final Path PROTOCOL = ROOT.resolve("docs/protocol.md");
  private static final Path DECISIONS = ROOT.resolve("docs/adr");
  private static final Pattern NUMBERS = Pattern.compile("\\d+");
  private static final Pattern INVARIANTS =
      Pattern.compile("[Ii]nvariants? (\\d+(?:(?:, | and | to |–)\\d+)*)");
  private static final Pattern CLASS = Pattern.compile("`([A-Z]\\w*[a-z]\\w*)(?:\\.\\w+)?`");

  /** Tests, and what is made for tests, that sleep; each with what it does meanwhile. */
  private static final Map<String, String> SLEEPERS =
      Map.ofEntries(
          // lock-store
          Map.entry("ChildJvm", "the pause between two looks at a process"),
          Map.entry("ChildJvmTest", "a process that lives until it is ended, and looks at it"),
          Map.entry("Connection", "an answer that is held up"),
          Map.entry("CountingProcess", "the pause before it tries again what another does"),
          Map.entry("LeaseKeeperTest", "by the clock that it drives"),
          // the engine
          Map.entry("AdmissionTest", "a broker that has no records just now"),
          Map.entry("BadHandlersTest", "a handler at work"),
          Map.entry("OutcomeFeedTest", "a broker that has no records just now, or hangs"),
          Map.entry("PollLoopTest", "a broker that has no records just now"),
          Map.entry("RecordsInFlightTest", "the pause between two signals of many"),
          Map.entry("ResourceFlowTest", "a handler at work, and a request held up until one is"),
          Map.entry("SlowStoreTest", "a store that takes its time"),
          Map.entry("TestBroker", "a broker that has no records just now"),
          // the dataset
          Map.entry("MergesTest", "what pauses beside the merge that it drives"),
          Map.entry("RepairTest", "by the clock that it drives"),
          Map.entry("VerificationTest", "by the clock that it drives"),
          // the service
          Map.entry("ClaimsTestBeans", "by the clock that a test gives it"),
          Map.entry("HttpHandlerTest", "a body that drips"),
          Map.entry("LongTroublesIT", "how long a broker is in trouble"),
          Map.entry("RedriveSchedulerTest", "by the clock that it drives"),
          Map.entry("Sink", "a handler at work"),
          Map.entry("ThrottledClaimsTest", "the gate's own pauses, made short"));

  /** A call, and not where a test says how its own clock sleeps. */
  private static final Pattern SLEEP = Pattern.compile("(?<!void )\\b(sleep|parkNanos)\\(");

  /** Tests that have Kafka's own fakes, and what for. */
  private static final Map<String, String> KAFKAS_FAKES =
      Map.of(
          "AdmissionTest", "records that come in a given order, some of them a poll",
          "DeadLettersTest", "a send that fails, hangs or is acknowledged when the test says so",
          "EngineMetricsTest", "metrics of clients that come and go",
          "OutcomeFeedTest", "outcomes that are lost, doubled, late or not to be read",
          "OutcomeWriterTest", "a send that fails, hangs or is acknowledged when the test says so",
          "PartitionsTest", "records of a poll, each in its own step",
          "PollLoopTest", "polls, rebalances and commits in a given order, and such as fail",
          "TestBroker", "engines that hear each other's outcomes when the test says so",
          "TopicHandlerTest", "a send that fails, hangs or is acknowledged when the test says so");

  private static Stream<Path> sources() {
    try (Stream<Path> all = Files.walk(ROOT)) {
      return all
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.toString().contains("/target/"))
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String name(Path source) {
    String file = source.getFileName().toString();
    return file.substring(0, file.length() - ".java".length());
  }

  /** Those of tests and of what is made for tests, but for what measures and what demonstrates. */
  private static boolean isForTests(Path source) {
    String path = source.toString().replace('\\', '/');
    return (path.contains("/src/test/") || path.contains("lock-store/testkit/"))
        && !path.contains("/bench/")
        && !source.getFileName().toString().equals("SourcesTest.java");
  }

  private static SortedSet<String> testsWith(Predicate<String> text) {
    return sources()
        .filter(SourcesTest::isForTests)
        .filter(source -> text.test(text(source)))
        .map(SourcesTest::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static SortedSet<Integer> numbers(String text) {
    return NUMBERS
        .matcher(text)
        .results()
        .map(found -> Integer.valueOf(found.group()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The numbers that rows of a table begin with. */
  private static SortedSet<Integer> rows(Path document) {
    return text(document)
        .lines()
        .filter(line -> line.matches("\\| \\d+ \\|.*"))
        .map(line -> Integer.valueOf(line.split(" ", 3)[1]))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static void requireNoGap(SortedSet<Integer> numbers) {
    assertThat(numbers)
        .containsExactlyElementsOf(IntStream.rangeClosed(1, numbers.size()).boxed().toList());
  }

  @Test
  void invariants_areNumberedWithoutAGap() {
    requireNoGap(rows(PROTOCOL));
  }

  @Test
  void everyInvariantThatASourceNames_isInTheProtocol() {
    Set<Integer> documented = rows(PROTOCOL);
    assertThat(sources().filter(source -> !name(source).equals("SourcesTest")))
        .allSatisfy(
            source ->
                assertThat(
                        INVARIANTS
                            .matcher(text(source))
                            .results()
                            .flatMap(found -> numbers(found.group(1)).stream()))
                    .as("invariants that %s names", source)
                    .isSubsetOf(documented));
  }

  /** Words that look like classes of ours and are none: results, and what others have. */
  private static final Set<String> NO_CLASSES_OF_OURS =
      Set.of(
          "Granted",
          "Held",
          "Later",
          "Done",
          "Dead",
          "Mismatch",
          "Blocked",
          "Settled",
          "Lost",
          "Unknown",
          "Date",
          "MockConsumer",
          "MockProducer");

  @Test
  void everyClassThatTheProtocolOrTheGuideNames_isThere() {
    Set<String> there = sources().map(SourcesTest::name).collect(Collectors.toSet());
    for (Path document : List.of(PROTOCOL, ROOT.resolve("CONTRIBUTING.md"))) {
      assertThat(CLASS.matcher(text(document)).results())
          .extracting(found -> found.group(1))
          .filteredOn(name -> !NO_CLASSES_OF_OURS.contains(name))
          .as("classes that %s names", document)
          .isNotEmpty()
          .isSubsetOf(there);
    }
  }

  @Test
  void everyDecision_isInTheirList_andNoNumberIsLeftOut() throws IOException {
    String list = text(DECISIONS.resolve("README.md"));
    try (Stream<Path> files = Files.list(DECISIONS)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .filteredOn(file -> !file.equals("README.md"))
          .allSatisfy(file -> assertThat(list).contains("](" + file + ")"));
    }
    requireNoGap(rows(DECISIONS.resolve("README.md")));
  }

  /** Packages of main code that have one type, and why. */
  private static final Map<String, String> ROOMS_OF_ONE =
      Map.of(
          "io.firstclaim.lock.testkit.deduplicator", "the contract of the door of that name",
          "io.firstclaim.processor.service", "the door of the program: its main class",
          "io.firstclaim.simulation.hook", "all that changed classes are to see of the simulation");

  /** A package for one class says nothing that the class does not. */
  @Test
  void everyRoom_hasTwoTypesAtLeast() {
    Map<String, Long> rooms =
        mainSources("lock-store", "processor", "listener")
            .collect(
                Collectors.groupingBy(
                    SourcesTest::packageOf,
                    TreeMap::new,
                    Collectors.filtering(
                        source -> !name(source).equals("package-info"), Collectors.counting())));
    rooms.values().removeIf(types -> types > 1);
    assertThat(rooms.keySet()).as("packages with one type").isEqualTo(ROOMS_OF_ONE.keySet());
  }

  /** From the root of the tree, with slashes. */
  private static String inTree(Path source) {
    return ROOT.relativize(source).toString().replace('\\', '/');
  }

  private static boolean isIn(Path source, String... folders) {
    return Stream.of(folders).anyMatch(folder -> inTree(source).startsWith(folder + "/"));
  }

  private static String packageOf(Path source) {
    return inTree(source).replaceFirst(".*/java/(.*)/[^/]+", "$1").replace('/', '.');
  }

  private static final Pattern TICKS_AND_CLOCKS =
      Pattern.compile(
          "\\b(nanoTime|currentTimeMillis|parkNanos|TimeSource\\.system|(Thread|[A-Z]+S)\\.sleep)\\("
              + "|\\b(Instant|LocalDate|LocalDateTime|ZonedDateTime|OffsetDateTime)\\.now\\("
              + "|\\b(Clock|InstantSource)\\.system");

  /** Of what is for frameworks: where an application is put together. */
  private static final Map<String, String> FRAMEWORKS_TIME =
      Map.of(
          "FirstclaimAutoConfiguration", "puts an application of Spring's together",
          "FirstclaimFactory", "puts an application of Micronaut's together");

  /** As {@code ArchitectureTest} sees to it in lock-store and processor. */
  @Test
  void timeIsAnArgument_inWhatIsForFrameworks() {
    assertThat(
            mainSources("listener", "spring", "micronaut")
                .filter(source -> TICKS_AND_CLOCKS.matcher(code(source)).find())
                .map(SourcesTest::name)
                .collect(Collectors.toSet()))
        .as("classes that read clocks, or sleep, by themselves")
        .isEqualTo(FRAMEWORKS_TIME.keySet());
  }

  private static final Pattern OURS =
      Pattern.compile("\\bio\\.firstclaim(?:\\.[a-z]\\w*)+(?=\\.[A-Z*])");

  private static final Map<String, String> FOR_FRAMEWORKS =
      Map.of(
          "io.firstclaim.listener", "what all frameworks' listeners have alike",
          "io.firstclaim.listener.web", "what all frameworks' requests have alike");

  /** By module: the packages it has beside the doors and its own, and why. */
  private static final Map<String, Map<String, String>> BESIDE_THE_DOORS =
      Map.of(
          "bench",
          Map.of(
              "io.firstclaim.launcher", "by name: the class that Spring's loader starts",
              "io.firstclaim.lock.testkit.fault", "a network that takes its time",
              "io.firstclaim.lock.testkit.process", "processes to measure",
              "io.firstclaim.stack.git", "builds an earlier commit, to compare with",
              "io.firstclaim.stack.server", "servers to measure on",
              "io.firstclaim.stack.standin", "one that is no wall"),
          "listener",
          Map.of(),
          "micronaut",
          FOR_FRAMEWORKS,
          "processor/simulation",
          Map.of(
              "io.firstclaim.processor.engine.kafka", "the clients that it stands in for",
              "io.firstclaim.stack.standin", "a DynamoDB within the world"),
          "spring",
          FOR_FRAMEWORKS);

  /** As {@code ArchitectureTest} sees to it in lock-store and the rest of processor. */
  @Test
  void internalPackages_stayInTheirModule() {
    BESIDE_THE_DOORS.forEach(
        (module, named) -> {
          String own = "io.firstclaim." + module.substring(module.lastIndexOf('/') + 1);
          assertThat(
                  mainSources(module)
                      .flatMap(source -> OURS.matcher(code(source)).results())
                      .map(MatchResult::group)
                      .filter(used -> !(used + ".").startsWith(own + "."))
                      .filter(used -> !ArchitectureTest.OPEN.contains(used))
                      .collect(Collectors.toSet()))
              .as("packages that %s uses, beside the doors and its own", module)
              .isEqualTo(named.keySet());
        });
  }

  private static Stream<Path> mainSources(String... modules) {
    return sources()
        .filter(source -> isIn(source, modules))
        .filter(source -> inTree(source).contains("/src/main/java/"));
  }

  /** A source without its comments. */
  private static String code(Path source) {
    return text(source)
        .lines()
        .filter(line -> !line.strip().matches("(//|/?\\*).*"))
        .collect(Collectors.joining("\n"));
  }

  @Test
  void tests_awaitConditions_andSleepForNamedReasonsOnly() {
    assertThat(testsWith(text -> SLEEP.matcher(text).find()))
        .as("tests that sleep; await a condition, or drive the clock")
        .isEqualTo(SLEEPERS.keySet());
  }

  @Test
  void tests_awaitForMinutes_andNotForTheTenSecondsThatAwaitilityHas() {
    // Scenario.await has a bound.
    Pattern unbounded =
        Pattern.compile(
            "(?<!Scenario\\.)\\bawait\\([^()]*+(\\([^()]*+\\)[^()]*+)*+\\)\\s*\\.(until|during)");
    assertThat(testsWith(text -> unbounded.matcher(text).find()))
        .as(
            "tests that await a condition with no bound of their own, on a machine that may be busy")
        .isEmpty();
  }

  @Test
  void nothingIsMocked_andKafkasFakesStandForNamedReasonsOnly() {
    assertThat(testsWith(text -> text.contains("org.mockito") || text.contains("org.easymock")))
        .isEmpty();
    assertThat(
            testsWith(
                text -> Pattern.compile("\\bMock(Consumer|Producer)\\b").matcher(text).find()))
        .as("tests with Kafka's own fakes")
        .isEqualTo(KAFKAS_FAKES.keySet());
  }
}
