package io.firstclaim.processor.service.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What a setting means, for {@code --help} and the documentation. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.PARAMETER, ElementType.FIELD, ElementType.METHOD})
@interface Meaning {
  /** The meaning, as part of a sentence. */
  String value();

  /** What holds without the setting, if that is not a fixed value. */
  String otherwise() default "";
}
