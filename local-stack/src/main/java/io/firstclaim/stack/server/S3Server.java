package io.firstclaim.stack.server;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.lock.testkit.process.StackException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * An S3 endpoint in memory (S3Proxy) as a child process, whose conditional PUTs are atomic as S3's
 * are. It takes path-style addresses and any credentials, and knows neither bucket policies nor
 * lifecycle rules. Its port survives {@link #kill()} and {@link #restart()}; its buckets do not.
 */
public final class S3Server implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
  private static final List<String> JVM_ARGS =
      List.of(
          "-Xms128m",
          "-Xmx1g",
          "-Djava.awt.headless=true",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
          // It takes every request that it does not know for an error.
          "-Dorg.slf4j.simpleLogger.log.org.gaul.s3proxy.S3ProxyHandler=off");

  private final WorkDirectory directory;
  private final int port = FreePort.next();
  private final JvmCommand command;
  private ChildJvm child;

  private S3Server(WorkDirectory directory, JvmTuning tuning, String ifMatch) {
    this.directory = directory;
    this.command =
        JvmCommand.ofMain("S3Proxy", ServerClassPath.get(), S3Main.class.getName())
            .withJvmArgs(JVM_ARGS)
            .withJvmArgs(tuning.jvmArgs())
            .withArgs(List.of(Integer.toString(port), ifMatch));
    try {
      this.child = launch();
    } catch (RuntimeException e) {
      directory.deleteIfTemporary();
      throw e;
    }
  }

  /** Starts a server whose log is deleted at {@link #close()}. */
  public static S3Server start() {
    return start(JvmTuning.LONG_RUN);
  }

  /** Starts a server whose log is deleted at {@link #close()}. */
  public static S3Server start(JvmTuning tuning) {
    return new S3Server(WorkDirectory.temporary("firstclaim-s3-"), tuning, "atomic");
  }

  /** Starts a server with its log in {@code directory}, which it leaves. */
  public static S3Server start(Path directory, JvmTuning tuning) {
    return new S3Server(WorkDirectory.kept(directory), tuning, "atomic");
  }

  /**
   * Starts S3Proxy as it is, whose {@code If-Match} lets two writers win: not a store for claims.
   */
  public static S3Server startRaw(JvmTuning tuning) {
    return new S3Server(WorkDirectory.temporary("firstclaim-s3-"), tuning, "raw");
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

  /** Creates a bucket. */
  public void createBucket(String name) {
    int status = status("PUT", "/" + name);
    if (status != 200) {
      throw new StackException("bucket " + name + " cannot be created: status " + status);
    }
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
    Path log = directory.path().resolve("s3.log");
    ChildJvm started = ChildJvm.start(command, log, directory.scratch());
    try {
      started.awaitReady("ready", () -> status("GET", "/") == 200, START_TIMEOUT);
      return started;
    } catch (RuntimeException e) {
      started.close();
      throw e;
    }
  }

  /** The status that answers a request without a body; -1 for no answer. */
  private int status(String method, String path) {
    try {
      var connection = (HttpURLConnection) endpoint().resolve(path).toURL().openConnection();
      connection.setRequestMethod(method);
      connection.setConnectTimeout(1_000);
      connection.setReadTimeout(5_000);
      int status = connection.getResponseCode();
      connection.disconnect();
      return status;
    } catch (IOException _) {
      return -1;
    }
  }
}
