package io.firstclaim.processor.service.config;

import io.firstclaim.processor.engine.setting.WrongSettingException;
import io.micronaut.context.env.Environment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The jars of the user's handlers, all in one folder. */
public final class HandlerJars {
  private HandlerJars() {}

  /**
   * Loads the classes in the jars of the folder that the settings name beside those of the parent;
   * empty if they name none, or a wrong one.
   */
  public static Optional<ClassLoader> load(Environment environment, ClassLoader parent) {
    return SettingsReader.given(environment)
        .get(ServiceCatalog.HANDLER_PATH)
        .filter(path -> fault(path).isEmpty())
        .map(path -> jars(Path.of(path)).stream().map(HandlerJars::url).toArray(URL[]::new))
        .map(urls -> new URLClassLoader("handlers", urls, parent));
  }

  /** What is wrong with a folder of handlers; empty if nothing is. */
  static Optional<WrongSettingException> fault(String folder) {
    try {
      Path path = Path.of(folder);
      if (!Files.isDirectory(path)) {
        return wrong(folder, "there is no such folder; name the folder of your handler's jar");
      }
      return jars(path).isEmpty()
          ? wrong(folder, "no jar is in this folder; put your handler's jar there")
          : Optional.empty();
    } catch (InvalidPathException | UncheckedIOException e) {
      return wrong(folder, "it cannot be read (%s)".formatted(e.getMessage()));
    }
  }

  private static Optional<WrongSettingException> wrong(String folder, String remedy) {
    return Optional.of(
        new WrongSettingException(ServiceCatalog.HANDLER_PATH.name(), folder, remedy));
  }

  private static List<Path> jars(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static URL url(Path jar) {
    try {
      return jar.toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }
}
