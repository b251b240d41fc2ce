package io.firstclaim.bench;

import io.firstclaim.bench.standin.StandIn;
import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.stack.server.FreePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The {@linkplain StandIn stand-in} as a child process. */
record StandInProcess(ChildJvm process, URI endpoint) implements AutoCloseable {
  private static final Path LOG = Path.of("target", "bench", "stand-in.log").toAbsolutePath();

  /** Starts one whose answers take so much longer. */
  static StandInProcess start(Duration latency) {
    int port = FreePort.next();
    JvmCommand command =
        JvmCommand.ofMain(
                "stand-in", System.getProperty("java.class.path"), StandIn.class.getName())
            .withJvmArgs(List.of("-Xms1g", "-Xmx3g", "--enable-native-access=ALL-UNNAMED"))
            .withArgs(List.of(Integer.toString(port), Long.toString(latency.toMillis())));
    ChildJvm process = ChildJvm.start(command, LOG);
    process.awaitReady("ready", () -> answers(port), Duration.ofMinutes(1));
    return new StandInProcess(process, URI.create("http://127.0.0.1:" + port));
  }

  /** The CPU time that it has used up. */
  Duration cpu() {
    return ProcessHandle.of(process.pid())
        .flatMap(each -> each.info().totalCpuDuration())
        .orElseThrow();
  }

  private static boolean answers(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException _) {
      return false;
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
