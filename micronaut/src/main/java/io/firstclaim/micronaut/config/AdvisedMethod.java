package io.firstclaim.micronaut.config;

import io.micronaut.inject.ExecutableMethod;
import java.util.List;

/**
 * Which method an advice is around, whatever Micronaut has in its place. For the packages beside
 * this one.
 *
 * @param type the class that declares it
 * @param name what it is called
 * @param arguments their types
 */
public record AdvisedMethod(Class<?> type, String name, List<Class<?>> arguments) {
  /** The method that Micronaut has this in place of. */
  public static AdvisedMethod of(ExecutableMethod<?, ?> method) {
    return new AdvisedMethod(
        method.getDeclaringType(), method.getMethodName(), List.of(method.getArgumentTypes()));
  }

  /**
   * Refuses the start if an annotation cannot be kept on this method.
   *
   * @param holds whether it can be kept
   * @param annotation its name
   * @param fault why it cannot
   * @param remedy what to do about it
   * @throws StartRefusedException if it cannot
   */
  public void require(boolean holds, String annotation, String fault, String remedy) {
    if (!holds) {
      throw refused(annotation, fault, remedy);
    }
  }

  /** The refusal of this annotation on this method. */
  public StartRefusedException refused(String annotation, String fault, String remedy) {
    return new StartRefusedException(
        "@%s cannot be kept on %s: %s".formatted(annotation, this, fault), remedy);
  }

  @Override
  public String toString() {
    return type.getName() + "." + name;
  }
}
