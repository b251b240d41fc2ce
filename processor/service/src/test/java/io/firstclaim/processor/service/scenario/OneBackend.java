package io.firstclaim.processor.service.scenario;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * The tests of a class, or one test, state facts that are not the store's: they run on this {@link
 * Backend}, which the constructor or the test is given, and with {@code -Psoak} on each.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedClass
@ParameterizedTest
@ArgumentsSource(OneBackend.Provider.class)
@interface OneBackend {
  /** The backend that they run on. */
  Backend value();

  /** Gives a test that backend, or each in turn. */
  final class Provider implements ArgumentsProvider, AnnotationConsumer<OneBackend> {
    private List<Backend> backends = List.of();

    @Override
    public void accept(OneBackend annotation) {
      backends =
          Boolean.getBoolean("soak")
              ? Arrays.asList(Backend.values())
              : List.of(annotation.value());
    }

    @Override
    public Stream<? extends Arguments> provideArguments(
        ParameterDeclarations parameters, ExtensionContext context) {
      return backends.stream().map(Arguments::of);
    }
  }
}
