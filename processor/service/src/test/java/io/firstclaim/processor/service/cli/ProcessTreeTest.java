package io.firstclaim.processor.service.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProcessTreeTest {
  /** A process that is called alive until it was looked at so often, dead or not. */
  private static final class ReapedLate extends Process {
    private final Process real;
    private int looks;

    private ReapedLate(Process real) {
      this.real = real;
    }

    @Override
    public boolean isAlive() {
      return true;
    }

    @Override
    public boolean waitFor(long timeout, TimeUnit unit) {
      return --looks < 0;
    }

    @Override
    public ProcessHandle toHandle() {
      return real.toHandle();
    }

    @Override
    public int waitFor() throws InterruptedException {
      return real.waitFor();
    }

    @Override
    public int exitValue() {
      return real.exitValue();
    }

    @Override
    public void destroy() {
      real.destroy();
    }

    @Override
    public OutputStream getOutputStream() {
      return real.getOutputStream();
    }

    @Override
    public InputStream getInputStream() {
      return real.getInputStream();
    }

    @Override
    public InputStream getErrorStream() {
      return real.getErrorStream();
    }
  }

  private static void look(ProcessTree tree, ReapedLate process, int times)
      throws InterruptedException {
    process.looks = times;
    tree.watch();
  }

  @Test
  void whatADeadProcessHasLeft_isSeen_whileItIsStillCalledAlive() throws Exception {
    Process command = new ProcessBuilder("sh", "-c", "sleep 3600 & wait").start();
    var process = new ReapedLate(command);
    var tree = new ProcessTree(process);
    List<ProcessHandle> started = List.of();
    try {
      await()
          .atMost(Duration.ofMinutes(10))
          .until(
              () -> {
                look(tree, process, 1);
                return !tree.seen().isEmpty();
              });
      started = tree.seen();
      int _ = command.destroyForcibly().waitFor();

      look(tree, process, 3);

      assertThat(tree.seen()).isEqualTo(started);
    } finally {
      started.forEach(ProcessHandle::destroyForcibly);
      command.destroyForcibly();
    }
  }
}
