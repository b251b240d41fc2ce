package io.firstclaim.processor.service;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.RunMetrics;
import io.micronaut.management.health.indicator.AbstractHealthIndicator;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** The rules of the house: who may know whom. */
@AnalyzeClasses(
    packages = {"io.firstclaim.lock", "io.firstclaim.processor"},
    importOptions = {ImportOption.DoNotIncludeTests.class, ArchitectureTest.NoTestkit.class})
class ArchitectureTest {
  private static final String LOCK = "io.firstclaim.lock";
  private static final String ENGINE = "io.firstclaim.processor.engine";
  private static final String DATASET = "io.firstclaim.processor.dataset";
  private static final String AUDIT = "io.firstclaim.processor.audit";
  private static final String SERVICE = "io.firstclaim.processor.service";

  /** The modules, by the packages that they begin with. */
  private static final List<String> MODULES =
      List.of(
          LOCK,
          LOCK + ".dynamodb",
          LOCK + ".s3",
          "io.firstclaim.processor.handler",
          ENGINE,
          DATASET,
          AUDIT,
          SERVICE);

  /** The doors: what another module may use. Every other package is internal. */
  static final Set<String> OPEN =
      Set.of(
          LOCK,
          LOCK + ".aws",
          LOCK + ".board",
          LOCK + ".deduplicator",
          LOCK + ".document",
          LOCK + ".keeper",
          LOCK + ".memory",
          LOCK + ".mutex",
          LOCK + ".store",
          LOCK + ".dynamodb",
          LOCK + ".s3",
          "io.firstclaim.processor.handler",
          ENGINE,
          ENGINE + ".api",
          ENGINE + ".setting",
          DATASET,
          AUDIT,
          AUDIT + ".api");

  /** The testkit is for tests, wherever it stands. */
  static final class NoTestkit implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("/lock/testkit/");
    }
  }

  private static String module(JavaClass of) {
    return MODULES.stream()
        .filter(module -> (of.getPackageName() + ".").startsWith(module + "."))
        .max(Comparator.comparingInt(String::length))
        .orElseThrow(() -> new AssertionError(of + " is in no module"));
  }

  private static boolean isOurs(JavaClass any) {
    return any.getPackageName().startsWith("io.firstclaim.")
        && !any.getPackageName().startsWith("io.firstclaim.launcher");
  }

  @ArchTest
  static final ArchRule internalPackages_stayInTheirModule =
      classes()
          .should(
              new ArchCondition<>("use only the open packages of other modules") {
                @Override
                public void check(JavaClass user, ConditionEvents events) {
                  user.getDirectDependenciesFromSelf().stream()
                      .filter(use -> isOurs(use.getTargetClass()))
                      .filter(use -> !module(use.getTargetClass()).equals(module(user)))
                      .filter(use -> !OPEN.contains(use.getTargetClass().getPackageName()))
                      .forEach(
                          use ->
                              events.add(
                                  SimpleConditionEvent.violated(user, use.getDescription())));
                }
              });

  @ArchTest
  static void everyOpenPackage_isThere(JavaClasses classes) {
    assertThat(classes.stream().map(JavaClass::getPackageName)).containsAll(OPEN);
  }

  @ArchTest
  static void everyPackage_saysWhatItIsFor(JavaClasses classes) {
    assertThat(packages(classes.stream()))
        .isEqualTo(
            packages(classes.stream().filter(type -> type.getSimpleName().equals("package-info"))));
  }

  private static Set<String> packages(Stream<JavaClass> classes) {
    return classes.map(JavaClass::getPackageName).collect(Collectors.toCollection(TreeSet::new));
  }

  @ArchTest
  static final ArchRule rooms_haveNoCycles =
      slices()
          .assignedFrom(
              new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass any) {
                  return isOurs(any)
                      ? SliceIdentifier.of(any.getPackageName())
                      : SliceIdentifier.ignore();
                }

                @Override
                public String getDescription() {
                  return "rooms";
                }
              })
          .should()
          .beFreeOfCycles();

  @ArchTest
  static final ArchRule library_knowsNeitherKafkaNorMicronaut =
      noClasses()
          .that()
          .resideInAPackage(LOCK + "..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("org.apache.kafka..", "io.micronaut..");

  @ArchTest
  static final ArchRule aws_isKnownToTheBackendsTheDatasetAndTheFactoriesAlone =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              LOCK + ".aws",
              LOCK + ".dynamodb..",
              LOCK + ".s3..",
              DATASET + "..",
              SERVICE + ".store..",
              SERVICE + ".cli",
              SERVICE + ".instance")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("software.amazon..");

  @ArchTest
  static final ArchRule aws_isUsedByItsOpenPartsAlone =
      noClasses().should().dependOnClassesThat(annotatedAsNotForUse());

  private static DescribedPredicate<JavaClass> annotatedAsNotForUse() {
    return describe(
        "are marked by the AWS SDK as internal or protected",
        any ->
            any.getPackageName().startsWith("software.amazon.awssdk")
                && (any.isAnnotatedWith("software.amazon.awssdk.annotations.SdkInternalApi")
                    || any.isAnnotatedWith("software.amazon.awssdk.annotations.SdkProtectedApi")));
  }

  @ArchTest
  static final ArchRule backends_doNotKnowEachOther =
      noClasses()
          .that()
          .resideInAPackage(LOCK + ".dynamodb..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage(LOCK + ".s3..");

  @ArchTest
  static final ArchRule whatRestsOnAStore_knowsThePortAlone =
      noClasses()
          .that()
          .resideInAnyPackage(
              LOCK,
              LOCK + ".board..",
              LOCK + ".deduplicator..",
              LOCK + ".document..",
              LOCK + ".keeper..",
              LOCK + ".mutex..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage(LOCK + ".memory..");

  @ArchTest
  static final ArchRule kafkaConsumer_isMadeAmongKafkasClientsAlone =
      noClasses()
          .that()
          .resideOutsideOfPackage(ENGINE + ".kafka")
          .should()
          .dependOnClassesThat()
          .areAssignableTo(KafkaConsumer.class);

  @ArchTest
  static final ArchRule kafkaStreams_isTheAuditsAlone =
      noClasses()
          .that()
          .resideOutsideOfPackage(AUDIT + "..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.apache.kafka.streams..");

  @ArchTest
  static final ArchRule audit_knowsOfTheEngineWhatItSays =
      noClasses()
          .that()
          .resideInAPackage(AUDIT + "..")
          .should()
          .dependOnClassesThat(
              resideInAPackage(ENGINE + "..")
                  .and(DescribedPredicate.not(resideInAPackage(ENGINE + ".api"))));

  @ArchTest
  static final ArchRule micronaut_isTheServicesAlone =
      noClasses()
          .that()
          .resideOutsideOfPackage(SERVICE + "..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.micronaut..", "jakarta.inject..");

  @ArchTest
  static final ArchRule micrometer_isKnownToMetricsAndTheFactoriesAlone =
      noClasses()
          .that()
          .resideOutsideOfPackages(SERVICE + ".instance", SERVICE + ".metrics")
          .and()
          .doNotBelongToAnyOf(RunMetrics.class) // made only by who has Micrometer
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.micrometer..");

  @ArchTest
  static final ArchRule openTelemetrysSdk_isMadeByMicronaut_andKnownToTheFactoriesAlone =
      noClasses()
          .that()
          .resideOutsideOfPackages(SERVICE + ".instance", SERVICE + ".cli")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.opentelemetry.sdk..");

  @ArchTest
  static final ArchRule library_isNotTraced =
      noClasses()
          .that()
          .resideInAnyPackage(LOCK + "..", DATASET + "..", AUDIT + "..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.opentelemetry..");

  @ArchTest
  static final ArchRule observers_areKnownToTheFactoriesAlone =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              SERVICE + ".instance",
              SERVICE + ".admin..",
              SERVICE + ".claims..",
              SERVICE + ".health..",
              SERVICE + ".metrics..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(SERVICE + ".admin..", SERVICE + ".health..", SERVICE + ".metrics..");

  /** It keeps its status in a field, which requests at one time would take from each other. */
  @ArchTest
  static final ArchRule health_isAnsweredToEachRequestByItself =
      noClasses().should().beAssignableTo(AbstractHealthIndicator.class);

  @ArchTest
  static final ArchRule flow_conducts_andIsNotCalledBack =
      noClasses()
          .that(
              resideInAPackage(ENGINE + "..")
                  .and(DescribedPredicate.not(resideInAnyPackage(ENGINE, ENGINE + ".flow"))))
          .should()
          .dependOnClassesThat()
          .resideInAPackage(ENGINE + ".flow..");

  @ArchTest
  static final ArchRule watermark_isPure =
      noClasses()
          .that()
          .haveFullyQualifiedName(ENGINE + ".intake.Watermark")
          .should()
          .dependOnClassesThat()
          .resideOutsideOfPackages("java..", "org.jspecify..", ENGINE + ".intake");

  @ArchTest
  static final ArchRule rooms_holdANoun =
      noClasses()
          .should()
          .resideInAnyPackage("..util..", "..utils..", "..common..", "..impl..", "..manager..");

  @ArchTest
  static final ArchRule wallClock_isAnArgument =
      noClasses()
          .that()
          .doNotHaveFullyQualifiedName(TimeSource.class.getName())
          .should()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Clock.class, "systemUTC")
          .orShould()
          .callMethod(Clock.class, "systemDefaultZone");

  /** Who reads ticks or sleeps otherwise than by a {@link TimeSource}, and what for. */
  private static final Map<String, String> TICKS_AND_SLEEP =
      Map.ofEntries(
          Map.entry("ActLog", "a pause where the TimeSource's own sleep may be what failed"),
          Map.entry("DefectPause", "a pause where the TimeSource's own sleep may be what failed"),
          Map.entry("HandlerThreads", "a pause until the system has threads again"),
          Map.entry("InFlightLimit", "a bounded wait on a condition"),
          Map.entry("LeaseKeeper", "a pause where the TimeSource's own sleep may be what failed"),
          Map.entry("OutcomeFeed", "a pause for outcomes to gather"),
          Map.entry("PollLoop", "pauses where there is nothing to poll"),
          Map.entry("RecordFlow", "a pause after a defect"),
          Map.entry(
              "RecordInFlight", "a wait on a condition, bounded unless a call is sure to come"),
          Map.entry("Upkeep", "the pause between two chores"),
          Map.entry("Watchdog", "the pause between two looks at the machine's threads"));

  @ArchTest
  static void ticksAndSleep_comeFromATimeSource(JavaClasses classes) {
    assertThat(callers(classes, ArchitectureTest::readsTicksOrSleeps))
        .as("classes that read ticks, or sleep, by themselves")
        .isEqualTo(TICKS_AND_SLEEP.keySet());
  }

  private static boolean readsTicksOrSleeps(JavaMethodCall call) {
    String owner = call.getTargetOwner().getName();
    return (owner.equals("java.lang.System") && call.getName().equals("nanoTime"))
        || (owner.equals("java.lang.Thread") && call.getName().equals("sleep"))
        || (owner.equals("java.util.concurrent.locks.LockSupport")
            && call.getName().equals("parkNanos"))
        || (owner.equals("java.time.InstantSource") && call.getName().equals("system"));
  }

  /** Where an application is put together, and others whom nobody gives a time. */
  private static final Map<String, String> SYSTEMS_TIME =
      Map.of(
          "Lifecycle", "pauses while it sets a bucket up, before there is a store",
          "DatasetCommand", "a command of its own",
          "EngineBuilder", "puts the engine together",
          "Firstclaim", "puts the commands together",
          "InstanceBeans", "puts the service together",
          "TableConformanceCheck", "checks a store before there is one",
          "SlowBody", "is slow on purpose, within that check",
          "BucketConformanceCheck", "checks a store before there is one");

  @ArchTest
  static void systemsTime_isGivenWhereAnApplicationIsPutTogether(JavaClasses classes) {
    assertThat(
            callers(
                classes,
                call ->
                    call.getTargetOwner().isEquivalentTo(TimeSource.class)
                        && call.getName().equals("system")))
        .as("classes that take the system's time")
        .isSubsetOf(SYSTEMS_TIME.keySet());
  }

  /** The simple names of the outermost classes that make such a call, {@link TimeSource} aside. */
  private static Set<String> callers(JavaClasses classes, Predicate<JavaMethodCall> calls) {
    return classes.stream()
        .filter(caller -> !caller.isEquivalentTo(TimeSource.class))
        .filter(caller -> caller.getMethodCallsFromSelf().stream().anyMatch(calls))
        .map(ArchitectureTest::outermost)
        .map(JavaClass::getSimpleName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static JavaClass outermost(JavaClass any) {
    return any.getEnclosingClass().map(ArchitectureTest::outermost).orElse(any);
  }

  @ArchTest
  static void publicTypes_haveTheWordsOfTheGlossary(JavaClasses classes) throws IOException {
    Map<String, String> instead = new TreeMap<>();
    Map<String, String> words = Glossary.wordByWhatItIsNotCalled();
    publicTypes(classes)
        .forEach(
            type ->
                words.forEach(
                    (not, word) -> {
                      if (Glossary.isIn(type.getSimpleName(), not)) {
                        instead.put(type.getName(), "say %s, not %s".formatted(word, not));
                      }
                    }));
    assertThat(instead).as("public types that the glossary has another word for").isEmpty();
  }

  /** More than can be learned at once are looked up by nobody: a new one takes another's place. */
  @ArchTest
  static void glossary_hasTwentyFiveWordsAtMost(JavaClasses unused) throws IOException {
    assertThat(Glossary.words()).doesNotHaveDuplicates().hasSizeBetween(20, 25);
  }

  /** Shadow mode's word, which the glossary has for it alone. */
  @ArchTest
  static final ArchRule findings_areShadowModes =
      noClasses()
          .that()
          .resideOutsideOfPackage(ENGINE + "..")
          .should()
          .haveSimpleNameContaining("Finding");

  /** Variants of several sealed types, which mean the same in each. */
  private static final Set<String> SHARED_VARIANTS =
      Set.of(
          "Dead",
          "Differs",
          "Done",
          "Free",
          "Header",
          "Held",
          "Key",
          "Mismatch",
          "Running",
          "Starting",
          "Took",
          "Unknown");

  @ArchTest
  static void publicTypes_haveANameEach(JavaClasses classes) {
    Map<Boolean, Map<String, List<String>>> names =
        publicTypes(classes)
            .collect(
                Collectors.partitioningBy(
                    ArchitectureTest::isVariant,
                    Collectors.groupingBy(
                        JavaClass::getSimpleName,
                        TreeMap::new,
                        Collectors.mapping(JavaClass::getName, Collectors.toList()))));
    names.forEach(
        (areVariants, byName) -> {
          byName.values().removeIf(types -> types.size() == 1);
          assertThat(byName.keySet())
              .as("public types of one name, of which there are %s", byName)
              .isEqualTo(areVariants ? SHARED_VARIANTS : Set.of());
        });
  }

  /** Whether it stands in the interface that it implements, and is named with it. */
  private static boolean isVariant(JavaClass type) {
    return type.getEnclosingClass()
        .filter(outer -> type.isAssignableTo(outer.getName()))
        .isPresent();
  }

  /** Those that are public, with all that they stand in, and were written and not generated. */
  private static Stream<JavaClass> publicTypes(JavaClasses classes) {
    return classes.stream()
        .filter(type -> isPublic(type) && !type.isAnonymousClass())
        .filter(type -> !type.getName().contains(".$"))
        .sorted(Comparator.comparing(JavaClass::getName));
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && type.getEnclosingClass().map(ArchitectureTest::isPublic).orElse(true);
  }
}
