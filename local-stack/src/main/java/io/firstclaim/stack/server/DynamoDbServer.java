package io.firstclaim.stack.server;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * DynamoDB Local, in memory, as a child process. Its port survives {@link #kill()} and {@link
 * #restart()}; its tables do not.
 */
public final class DynamoDbServer implements AutoCloseable {
  private static final String MAIN = "software.amazon.dynamodb.services.local.main.ServerRunner";
  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
  private static final List<String> JVM_ARGS =
      List.of(
          "-Xms128m",
          "-Xmx1g",
          "-Djava.awt.headless=true",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");

  private final WorkDirectory directory;
  private final int port = FreePort.next();
  private final JvmCommand command;
  private ChildJvm child;

  private DynamoDbServer(WorkDirectory directory, JvmTuning tuning) {
    this.directory = directory;
    this.command =
        JvmCommand.ofMain("DynamoDB Local", ServerClassPath.get(), MAIN)
            .withJvmArgs(JVM_ARGS)
            // It unpacks a native library there at every start.
            .withJvmArgs(List.of("-Djava.io.tmpdir=" + directory.path()))
            .withJvmArgs(tuning.jvmArgs())
            .withArgs(List.of("-inMemory", "-disableTelemetry", "-port", Integer.toString(port)));
    try {
      this.child = launch();
    } catch (RuntimeException e) {
      directory.deleteIfTemporary();
      throw e;
    }
  }

  /** Starts a server whose log is deleted at {@link #close()}. */
  public static DynamoDbServer start() {
    return start(JvmTuning.LONG_RUN);
  }

  /** Starts a server whose log is deleted at {@link #close()}. */
  public static DynamoDbServer start(JvmTuning tuning) {
    return new DynamoDbServer(WorkDirectory.temporary("firstclaim-dynamodb-"), tuning);
  }

  /** Starts a server with its log in {@code directory}, which it leaves. */
  public static DynamoDbServer start(Path directory, JvmTuning tuning) {
    return new DynamoDbServer(WorkDirectory.kept(directory), tuning);
  }

  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + port);
  }

  public long pid() {
    return child.pid();
  }

  public Path log() {
    return child.log();
  }

  /** Ends the server at once (SIGKILL). */
  public void kill() {
    child.kill();
  }

  /** Starts the server again, whether killed or still running, on the same port and empty. */
  public void restart() {
    child.close();
    child = launch();
  }

  /** Stops the server where it is (SIGSTOP). */
  public void pause() {
    child.pause();
  }

  /** Lets a paused server go on (SIGCONT). */
  public void resume() {
    child.resume();
  }

  /** Ends the server at once. */
  @Override
  public void close() {
    child.close();
    directory.deleteIfTemporary();
  }

  private ChildJvm launch() {
    Path log = directory.path().resolve("dynamodb.log");
    ChildJvm started = ChildJvm.start(command, log, directory.scratch());
    try {
      started.awaitReady("ready", this::answers, START_TIMEOUT);
      return started;
    } catch (RuntimeException e) {
      started.close();
      throw e;
    }
  }

  /** An unsigned request is refused, which shows that requests are served. */
  private boolean answers() {
    try {
      var connection = (HttpURLConnection) endpoint().toURL().openConnection();
      connection.setConnectTimeout(1_000);
      connection.setReadTimeout(5_000);
      int status = connection.getResponseCode();
      connection.disconnect();
      return status > 0;
    } catch (IOException _) {
      return false;
    }
  }
}
