package io.firstclaim.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
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
      Thread.sleep(Duration.ofMinutes(1));
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

    assertThat(starter.waitFor(30, TimeUnit.SECONDS)).isTrue();
    await(directory.resolve("ended"));
  }

  private static void await(Path file) throws InterruptedException {
    while (!Files.exists(file)) {
      Thread.sleep(Duration.ofMillis(20));
    }
  }

  private static ProcessBuilder java(Class<?> main, Path directory) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classPath = System.getProperty("java.class.path");
    List<String> line = List.of(java, "-cp", classPath, main.getName(), directory.toString());
    return new ProcessBuilder(line).inheritIO();
  }
}
