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

/** Loads the classes of the service and, once it is told where they are, of the user's handlers. */
public final class HandlerJars extends URLClassLoader {
  /** The folder of the jars. */
  public static final String PROPERTY = "firstclaim.handler.path";

  /** Has the classes of the parent only, yet. */
  public HandlerJars(ClassLoader parent) {
    super("handlers", new URL[0], parent);
  }

  /** Adds the jars of the folder that the settings name, if there is one; a wrong one has none. */
  public void addFrom(Optional<String> folder) {
    folder
        .map(String::strip)
        .filter(path -> !path.isEmpty() && fault(path).isEmpty())
        .ifPresent(path -> jars(Path.of(path)).stream().map(HandlerJars::url).forEach(this::addURL));
  }

  /** What is wrong with a folder of handlers; nothing, if none is given. */
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
