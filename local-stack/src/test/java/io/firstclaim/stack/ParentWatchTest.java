package io.firstclaim.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParentWatchTest {
  @TempDir private Path directory;

  /** Starts a {@link Job} as Maven starts the main job, and waits for its end. */
  static final class Starter {
    private Starter() {}

    public static void main(String[] args) throws Exception {
      System.exit(java(Job.class, Path.of(args[0])).start().waitFor());
    }
  }

  /** Watches its parent, and says when it is up and when it ends in order. */
  static final class Job {
    private Job() {}

    public static void main(String[] args) throws Exception {
      Path directory = Path.of(args[0]);
      ParentWatch.start();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> create(directory.resolve("ended"))));
      create(directory.resolve("up"));
      new CountDownLatch(1).await();
    }

    private static void create(Path file) {
      try {
        Files.createFile(file);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  void process_whoseParentIsTerminated_endsInOrder() throws Exception {
    Process starter = java(Starter.class, directory).start();
    await(directory.resolve("up"));
    starter.destroy();

    assertThat(starter.waitFor(10, TimeUnit.MINUTES)).isTrue();
    await(directory.resolve("ended"));
  }

  private static void await(Path file) {
    Awaitility.await(file.toString()).forever().until(() -> Files.exists(file));
  }

  private static ProcessBuilder java(Class<?> main, Path directory) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classPath = System.getProperty("java.class.path");
    List<String> line = List.of(java, "-cp", classPath, main.getName(), directory.toString());
    return new ProcessBuilder(line).inheritIO();
  }
}
