package io.firstclaim.processor.engine;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.constructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;

import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;

/** What takes many things knows too much. Records, which hold data, are excepted. */
@AnalyzeClasses(
    packages = "io.firstclaim.processor.engine",
    importOptions = ImportOption.DoNotIncludeTests.class)
class RoomsTest {
  private static final String[] ROOMS = {"..intake", "..admission", "..flow", "..handler"};

  @ArchTest
  static final ArchRule constructors_takeAtMostSeven =
      constructors()
          .that()
          .areDeclaredInClassesThat()
          .resideInAnyPackage(ROOMS)
          .and()
          .areDeclaredInClassesThat()
          .areNotRecords()
          .should(takeAtMost(7));

  @ArchTest
  static final ArchRule methods_takeAtMostFour =
      methods()
          .that()
          .areDeclaredInClassesThat()
          .resideInAnyPackage(ROOMS)
          .and()
          .doNotHaveModifier(JavaModifier.SYNTHETIC)
          .should(takeAtMost(4));

  private static ArchCondition<JavaCodeUnit> takeAtMost(int most) {
    return new ArchCondition<>("take at most %d things".formatted(most)) {
      @Override
      public void check(JavaCodeUnit any, ConditionEvents events) {
        int taken = any.getRawParameterTypes().size();
        if (taken > most) {
          events.add(
              SimpleConditionEvent.violated(
                  any, "%s takes %d".formatted(any.getFullName(), taken)));
        }
      }
    };
  }
}
