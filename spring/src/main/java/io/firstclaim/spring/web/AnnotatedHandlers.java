package io.firstclaim.spring.web;

import io.firstclaim.spring.IdempotencyKey;
import java.lang.reflect.Method;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Finds the annotation, without a class that only applications on servlets have. */
final class AnnotatedHandlers {
  private AnnotatedHandlers() {}

  /** The annotation of a method; null if it has none. */
  static @Nullable IdempotencyKey of(Method method) {
    return AnnotatedElementUtils.findMergedAnnotation(method, IdempotencyKey.class);
  }

  /** The methods of this class that have the annotation. */
  static Set<Method> of(Class<?> type) {
    return MethodIntrospector.selectMethods(
            type, (MethodIntrospector.MetadataLookup<IdempotencyKey>) AnnotatedHandlers::of)
        .keySet();
  }
}
