package io.firstclaim.micronaut.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.ApplicationContext;
import io.micronaut.management.health.indicator.HealthIndicator;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An application on a class path of its own, on which there is less than on this one. */
class BareApplicationTest {
  /** Made and called there; whoever calls it has only the JDK's classes in common with it. */
  static final class Application implements Callable<String> {
    @Override
    public String call() throws Exception {
      try (ApplicationContext context =
          ApplicationContext.builder()
              .deduceEnvironment(false)
              .classLoader(getClass().getClassLoader())
              .properties(Map.of("kafka.enabled", false, "firstclaim.claim.backend", "memory"))
              .start()) {
        return context
            .getBean(Deduplicator.class)
            .run(RecordId.of("1"), Fingerprint.none(), lease -> "paid")
            .toString();
      }
    }
  }

  private static URLClassLoader without(String jars) {
    Pattern left = Pattern.compile(jars);
    return new URLClassLoader(
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(File::new)
            .filter(file -> !left.matcher(file.getName()).find())
            .map(BareApplicationTest::url)
            .toArray(URL[]::new),
        ClassLoader.getPlatformClassLoader());
  }

  private static URL url(File file) {
    try {
      return file.toURI().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void neitherManagementNorMicrometer_isNeeded() throws Exception {
    try (URLClassLoader bare = without("^micronaut-management-|micrometer")) {
      for (Class<?> absent : new Class<?>[] {HealthIndicator.class, MeterRegistry.class}) {
        assertThatThrownBy(() -> bare.loadClass(absent.getName()))
            .isInstanceOf(ClassNotFoundException.class);
      }
      var constructor = bare.loadClass(Application.class.getName()).getDeclaredConstructor();
      constructor.setAccessible(true);

      assertThat(((Callable<?>) constructor.newInstance()).call()).isEqualTo("Ran[result=paid]");
    }
  }
}
