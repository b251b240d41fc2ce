package io.firstclaim.stack.server;

import io.firstclaim.lock.testkit.process.StackException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The class path of the server processes: this module and the servers' jars in the local Maven
 * repository, as the build wrote them down. None of it is on the class path of this JVM.
 */
final class ServerClassPath {
  private static final String RESOURCE = "servers.classpath";

  private ServerClassPath() {}

  static String get() {
    try (InputStream in = ServerClassPath.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new StackException(
            RESOURCE + " is missing: build local-stack with Maven (process-resources writes it)");
      }
      String jars = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
      Path self =
          Path.of(
              ServerClassPath.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      return self + File.pathSeparator + jars;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new StackException("the place of local-stack's classes is no path", e);
    }
  }
}
