package io.firstclaim.lock;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** The rules of the house, as far as the library goes. */
@AnalyzeClasses(
    packages = "io.firstclaim.lock",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String AWS = "software.amazon.awssdk..";

  @ArchTest
  static final ArchRule neitherKafkaNorMicronaut =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("org.apache.kafka..", "io.micronaut..");

  @ArchTest
  static final ArchRule awsStaysInItsRoom =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.firstclaim.lock.dynamodb..", "io.firstclaim.lock.s3..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(AWS);

  @ArchTest
  static final ArchRule portAndRule_knowNoBackend =
      noClasses()
          .that()
          .resideInAnyPackage("io.firstclaim.lock", "io.firstclaim.lock.state..")
          .should()
          .dependOnClassesThat(
              resideInAPackage("io.firstclaim.lock..")
                  .and(
                      not(resideInAnyPackage("io.firstclaim.lock", "io.firstclaim.lock.state.."))));

  @ArchTest
  static final ArchRule whatRestsOnAStore_knowsThePortAlone =
      noClasses()
          .that()
          .resideInAnyPackage("io.firstclaim.lock.mutex..", "io.firstclaim.lock.document..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.firstclaim.lock.dynamodb..",
              "io.firstclaim.lock.s3..",
              "io.firstclaim.lock.memory..");

  @ArchTest
  static final ArchRule backends_doNotKnowEachOther =
      slices()
          .matching("io.firstclaim.lock.(*)..")
          .namingSlices("$1")
          .should()
          .notDependOnEachOther()
          .ignoreDependency(
              resideInAPackage("io.firstclaim.lock.."),
              resideInAnyPackage("io.firstclaim.lock.state..", "io.firstclaim.lock.document.."));

  @ArchTest
  static final ArchRule rooms_haveNoCycles =
      slices().matching("io.firstclaim.lock.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule time_isAnArgument =
      noClasses()
          .that()
          .doNotHaveFullyQualifiedName(TimeSource.class.getName())
          .should()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(InstantSource.class, "system")
          .orShould()
          .callMethod(Clock.class, "systemUTC")
          .orShould()
          .callMethod(Clock.class, "systemDefaultZone")
          .orShould()
          .callMethod(Thread.class, "sleep", Duration.class)
          .orShould()
          .callMethod(Thread.class, "sleep", long.class);

  @ArchTest
  static final ArchRule noRoomIsALumberRoom =
      noClasses().should().resideInAnyPackage("..util..", "..common..", "..impl..", "..manager..");
}
