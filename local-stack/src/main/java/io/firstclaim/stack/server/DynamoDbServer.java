package io.firstclaim.stack.server;

import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * DynamoDB Local, in memory, as a child process. Its port survives {@link #kill()} and {@link
 * #restart()}; its tables do not.
 */
public final class DynamoDbServer extends ServerProcess {
  private static final String MAIN = "software.amazon.dynamodb.services.local.main.ServerRunner";
  private static final List<String> JVM_ARGS =
      List.of(
          "-Xms128m",
          "-Xmx1g",
          "-Djava.awt.headless=true",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");

  private final int port;

  private DynamoDbServer(WorkDirectory directory, int port, JvmTuning tuning) {
    super(
        directory,
        "dynamodb.log",
        JvmCommand.ofMain("DynamoDB Local", ServerClassPath.get(), MAIN)
            .withJvmArgs(JVM_ARGS)
            // It unpacks a native library there at every start.
            .withJvmArgs(List.of("-Djava.io.tmpdir=" + directory.path()))
            .withJvmArgs(tuning.jvmArgs())
            .withArgs(List.of("-inMemory", "-disableTelemetry", "-port", Integer.toString(port))),
        () -> answers(port));
    this.port = port;
  }

  /** Starts a server whose log is deleted at {@link #close()}. */
  public static DynamoDbServer start() {
    return start(JvmTuning.LONG_RUN);
  }

  /** Starts a server whose log is deleted at {@link #close()}. */
  public static DynamoDbServer start(JvmTuning tuning) {
    return new DynamoDbServer(
        WorkDirectory.temporary("firstclaim-dynamodb-"), FreePort.next(), tuning);
  }

  /** Starts a server with its log in {@code directory}, which it leaves. */
  public static DynamoDbServer start(Path directory, JvmTuning tuning) {
    return new DynamoDbServer(WorkDirectory.kept(directory), FreePort.next(), tuning);
  }

  /** The variables by which the AWS SDK of another process finds it. */
  public Map<String, String> environment() {
    return Map.of(
        "AWS_ENDPOINT_URL_DYNAMODB", endpoint().toString(),
        "AWS_REGION", "eu-central-1",
        "AWS_ACCESS_KEY_ID", "test",
        "AWS_SECRET_ACCESS_KEY", "test");
  }

  public URI endpoint() {
    return endpoint(port);
  }

  private static URI endpoint(int port) {
    return URI.create("http://127.0.0.1:" + port);
  }

  /** An unsigned request is refused, which shows that requests are served. */
  private static boolean answers(int port) {
    try {
      var connection = (HttpURLConnection) endpoint(port).toURL().openConnection();
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
