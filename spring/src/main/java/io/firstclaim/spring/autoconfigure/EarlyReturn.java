package io.firstclaim.spring.autoconfigure;

import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;

/** Tells methods that return before their work ends. */
public final class EarlyReturn {
  private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

  private static final List<String> LATER =
      List.of(
          "java.util.concurrent.Callable",
          "java.util.concurrent.Future",
          "java.util.concurrent.CompletionStage",
          "java.util.concurrent.Flow$Publisher",
          "org.reactivestreams.Publisher",
          "kotlinx.coroutines.flow.Flow",
          "org.springframework.web.context.request.async.DeferredResult",
          "org.springframework.web.context.request.async.WebAsyncTask",
          "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
          "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

  private EarlyReturn() {}

  /** Whether this method of that class is one, by its type, or as it is run on another thread. */
  public static boolean is(Method method, Class<?> type) {
    return isAsync(method, type) || isLater(method, type) || isSuspending(method);
  }

  private static boolean isAsync(Method method, Class<?> type) {
    return MergedAnnotations.from(method, MergedAnnotations.SearchStrategy.TYPE_HIERARCHY)
            .isPresent(ASYNC)
        || MergedAnnotations.from(type, MergedAnnotations.SearchStrategy.TYPE_HIERARCHY)
            .isPresent(ASYNC);
  }

  private static boolean isLater(Method method, Class<?> type) {
    ResolvableType returned = ResolvableType.forMethodReturnType(method, type);
    return LATER.stream()
        .map(name -> named(name, type.getClassLoader()))
        .anyMatch(
            later ->
                later != null
                    && (later.isAssignableFrom(returned.toClass())
                        || later.isAssignableFrom(returned.getGeneric(0).toClass())));
  }

  private static @Nullable Class<?> named(String name, ClassLoader loader) {
    try {
      return ClassUtils.forName(name, loader);
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  /** Whether this is a suspending function of Kotlin, which returns before its work is done. */
  private static boolean isSuspending(Method method) {
    int last = method.getParameterCount() - 1;
    return last >= 0
        && new MethodParameter(method, last)
            .getParameterType()
            .getName()
            .equals("kotlin.coroutines.Continuation");
  }
}
