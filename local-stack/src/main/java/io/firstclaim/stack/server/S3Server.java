package io.firstclaim.stack.server;

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
public final class S3Server extends ServerProcess {
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

  /** How long it is waited for an answer: to who looks whether it is up, and to who needs it. */
  private static final Duration LOOK = Duration.ofSeconds(5);

  private static final Duration TO_CREATE = Duration.ofMinutes(5);

  private final int port;

  private S3Server(WorkDirectory directory, int port, JvmTuning tuning, String ifMatch) {
    super(
        directory,
        "s3.log",
        JvmCommand.ofMain("S3Proxy", ServerClassPath.get(), S3Main.class.getName())
            .withJvmArgs(JVM_ARGS)
            .withJvmArgs(tuning.jvmArgs())
            .withArgs(List.of(Integer.toString(port), ifMatch)),
        () -> status(port, "GET", "/", LOOK) == 200);
    this.port = port;
  }

  private static S3Server start(WorkDirectory directory, JvmTuning tuning, String ifMatch) {
    return new S3Server(directory, FreePort.next(), tuning, ifMatch);
  }

  /** Starts a server whose log is deleted at {@link #close()}. */
  public static S3Server start() {
    return start(JvmTuning.LONG_RUN);
  }

  /** Starts a server whose log is deleted at {@link #close()}. */
  public static S3Server start(JvmTuning tuning) {
    return start(WorkDirectory.temporary("firstclaim-s3-"), tuning, "atomic");
  }

  /** Starts a server with its log in {@code directory}, which it leaves. */
  public static S3Server start(Path directory, JvmTuning tuning) {
    return start(WorkDirectory.kept(directory), tuning, "atomic");
  }

  /**
   * Starts S3Proxy as it is, whose {@code If-Match} lets two writers win: not a store for claims.
   */
  public static S3Server startRaw(JvmTuning tuning) {
    return start(WorkDirectory.temporary("firstclaim-s3-"), tuning, "raw");
  }

  public URI endpoint() {
    return endpoint(port);
  }

  /** Creates a bucket. */
  public void createBucket(String name) {
    int status = status(port, "PUT", "/" + name, TO_CREATE);
    if (status != 200) {
      throw new StackException("bucket " + name + " cannot be created: status " + status);
    }
  }

  private static URI endpoint(int port) {
    return URI.create("http://127.0.0.1:" + port);
  }

  /** What a request without a body is answered; -1 for nothing. */
  private static int status(int port, String method, String path, Duration limit) {
    try {
      var connection = (HttpURLConnection) endpoint(port).resolve(path).toURL().openConnection();
      connection.setRequestMethod(method);
      connection.setConnectTimeout(1_000);
      connection.setReadTimeout((int) limit.toMillis());
      int status = connection.getResponseCode();
      connection.disconnect();
      return status;
    } catch (IOException _) {
      return -1;
    }
  }
}
