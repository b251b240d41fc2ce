package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.processor.handler.RecordHandler;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/** A jar of handlers, as a user builds it. */
final class HandlerJar {
  private HandlerJar() {}

  /**
   * Writes the classes of a handler's package, and what Micronaut's annotation processor left, into
   * a jar in this folder that names the handler as a service.
   */
  static void write(Path folder, Class<? extends RecordHandler> service)
      throws IOException, URISyntaxException {
    Path classes = Path.of(service.getProtectionDomain().getCodeSource().getLocation().toURI());
    String ours = service.getPackageName();
    try (JarOutputStream jar =
            new JarOutputStream(Files.newOutputStream(folder.resolve("handlers.jar")));
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.toList()) {
        String name = classes.relativize(file).toString();
        if (Files.isDirectory(file) && !name.isEmpty()) {
          jar.putNextEntry(new JarEntry(name + "/")); // Micronaut looks for folders
        } else if (name.contains(ours.replace('.', '/')) || name.contains(ours)) {
          jar.putNextEntry(new JarEntry(name));
          jar.write(Files.readAllBytes(file));
        }
      }
      jar.putNextEntry(new JarEntry("META-INF/services/" + RecordHandler.class.getName()));
      jar.write(service.getName().getBytes(UTF_8));
    }
  }
}
