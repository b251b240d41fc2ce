package io.firstclaim.processor.service.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The jars of the user's handlers, all in one folder. */
public final class HandlerJars {
  /** The folder. */
  public static final String PROPERTY = "firstclaim.handler.path";

  private HandlerJars() {}

  /**
   * Loads the classes in a folder's jars beside those of the parent; empty if the folder is wrong.
   */
  public static Optional<ClassLoader> load(Optional<String> folder, ClassLoader parent) {
    return folder
        .map(String::strip)
        .filter(path -> !path.isEmpty() && fault(path).isEmpty())
        .map(path -> jars(Path.of(path)).stream().map(HandlerJars::url).toArray(URL[]::new))
        .map(urls -> new URLClassLoader("handlers", urls, parent));
  }

  /** What is wrong with a folder of handlers; empty if nothing is, or none is given. */
  static Optional<WrongSettingException> fault(@Nullable String folder) {
    if (folder == null) {
      return Optional.empty();
    }
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
    return Optional.of(new WrongSettingException(PROPERTY, folder, remedy));
  }

  private static List<Path> jars(Path folder) {
    List<Path> jars = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*.jar")) {
      found.forEach(jars::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Collections.sort(jars);
    return jars;
  }

  private static URL url(Path jar) {
    try {
      return jar.toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }
}
