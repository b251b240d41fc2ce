package io.firstclaim.processor.service.config;

import io.micronaut.core.annotation.AnnotationValue;
import io.micronaut.core.annotation.Introspected;
import io.micronaut.validation.validator.constraints.ConstraintValidator;
import io.micronaut.validation.validator.constraints.ConstraintValidatorContext;
import jakarta.validation.Constraint;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A duration, if given, that is longer than zero. */
@Constraint(validatedBy = NotZero.Check.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.PARAMETER, ElementType.FIELD, ElementType.METHOD})
@interface NotZero {
  /** What would be right. */
  String message() default Text.DURATION;

  /** Decides. */
  @Introspected
  final class Check implements ConstraintValidator<NotZero, Duration> {
    @Override
    public boolean isValid(
        @Nullable Duration value,
        AnnotationValue<NotZero> annotation,
        ConstraintValidatorContext context) {
      return value == null || value.isPositive();
    }
  }
}
