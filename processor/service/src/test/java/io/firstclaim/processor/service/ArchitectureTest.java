package io.firstclaim.processor.service;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.firstclaim.processor.service.config.SettingsReader;
import java.time.Clock;
import java.time.Instant;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** The rules of the house: who may know whom. */
@AnalyzeClasses(
    packages = "io.firstclaim.processor",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String ROOT = "io.firstclaim.processor";

  @ArchTest
  static final ArchRule kafkaConsumer_isTheConsumersAlone =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + ".consumer")
          .should()
          .dependOnClassesThat()
          .areAssignableTo(KafkaConsumer.class);

  @ArchTest
  static final ArchRule kafkaStreams_isTheAuditsAlone =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + ".audit")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.apache.kafka.streams..");

  @ArchTest
  static final ArchRule micronaut_isKnownToTheFactoriesTheSettingsReaderAndHealthAlone =
      noClasses()
          .that()
          .resideOutsideOfPackages(ROOT, ROOT + ".health", ROOT + ".admin")
          .and()
          .doNotBelongToAnyOf(SettingsReader.class)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.micronaut..", "jakarta.inject..");

  @ArchTest
  static final ArchRule micrometer_isKnownToMetricsAndTheFactoriesAlone =
      noClasses()
          .that()
          .resideOutsideOfPackages(ROOT, ROOT + ".metrics")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.micrometer..");

  @ArchTest
  static final ArchRule aws_isKnownToTheFactoriesAndTheDatasetAlone =
      noClasses()
          .that()
          .resideOutsideOfPackages(ROOT, ROOT + ".dataset")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("software.amazon..");

  @ArchTest
  static final ArchRule backends_areKnownToTheFactoriesAlone =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.firstclaim.lock.dynamodb..", "io.firstclaim.lock.memory..");

  @ArchTest
  static final ArchRule s3_isKnownToTheFactoriesAndTheDatasetAlone =
      noClasses()
          .that()
          .resideOutsideOfPackages(ROOT, ROOT + ".dataset")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.firstclaim.lock.s3..");

  @ArchTest
  static final ArchRule dataset_knowsNoRoomOfTheProcessor =
      noClasses()
          .that()
          .resideInAPackage(ROOT + ".dataset")
          .should()
          .dependOnClassesThat(
              resideInAPackage(ROOT + "..").and(not(resideInAPackage(ROOT + ".dataset"))));

  @ArchTest
  static final ArchRule observers_areKnownToTheFactoriesAlone =
      noClasses()
          .that(
              resideInAPackage(ROOT + "..")
                  .and(
                      not(
                          resideInAnyPackage(
                              ROOT, ROOT + ".admin..", ROOT + ".health..", ROOT + ".metrics.."))))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(ROOT + ".admin..", ROOT + ".health..", ROOT + ".metrics..");

  @ArchTest
  static final ArchRule consumer_conducts_andIsNotCalledBack =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              ROOT, ROOT + ".consumer", ROOT + ".metrics", ROOT + ".health", ROOT + ".admin")
          .should()
          .dependOnClassesThat()
          .resideInAPackage(ROOT + ".consumer..");

  @ArchTest
  static final ArchRule watermark_isPure =
      noClasses()
          .that()
          .resideInAPackage(ROOT + ".offset")
          .should()
          .dependOnClassesThat()
          .resideOutsideOfPackages("java..", "org.jspecify..", ROOT + ".offset");

  @ArchTest
  static final ArchRule rooms_haveNoCycles =
      slices()
          .assignedFrom(
              new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
                  String name = javaClass.getPackageName();
                  return name.startsWith(ROOT)
                      ? SliceIdentifier.of(name.equals(ROOT) ? "root" : name)
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
  static final ArchRule rooms_holdANoun =
      noClasses()
          .should()
          .resideInAnyPackage("..util..", "..utils..", "..common..", "..impl..", "..manager..");

  @ArchTest
  static final ArchRule time_isAnArgument =
      noClasses()
          .should()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Clock.class, "systemUTC")
          .orShould()
          .callMethod(Clock.class, "systemDefaultZone");
}
