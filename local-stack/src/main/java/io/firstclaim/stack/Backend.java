package io.firstclaim.stack;

import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.S3Server;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;

/** Where the main job's claims are kept. */
enum Backend {
  DYNAMODB("DynamoDB Local", "AWS_ENDPOINT_URL_DYNAMODB", "table firstclaim") {
    @Override
    Server start(Path directory) {
      DynamoDbServer server =
          DynamoDbServer.start(directory.resolve("dynamodb"), JvmTuning.SHORT_RUN);
      return new Server(server.endpoint(), server::close);
    }

    @Override
    Map<String, String> settings() {
      return Map.of("FIRSTCLAIM_CLAIM_BACKEND", "dynamodb");
    }
  },
  S3("S3Proxy", "AWS_ENDPOINT_URL_S3", "bucket firstclaim, prefix claims/") {
    @Override
    Server start(Path directory) {
      S3Server server = S3Server.start(directory.resolve("s3"), JvmTuning.SHORT_RUN);
      return new Server(server.endpoint(), server::close);
    }

    @Override
    Map<String, String> settings() {
      return Map.of("FIRSTCLAIM_CLAIM_BACKEND", "s3", "FIRSTCLAIM_CLAIM_S3_BUCKET", "firstclaim");
    }
  };

  /** A running server; closing ends it. */
  record Server(URI endpoint, Runnable end) implements AutoCloseable {
    @Override
    public void close() {
      end.run();
    }
  }

  private final String server;
  private final String endpointVariable;
  private final String place;

  Backend(String server, String endpointVariable, String place) {
    this.server = server;
    this.endpointVariable = endpointVariable;
    this.place = place;
  }

  /** What the server is called. */
  String server() {
    return server;
  }

  /** The environment variable by which the AWS SDK finds it. */
  String endpointVariable() {
    return endpointVariable;
  }

  /** Where in the server the claims are. */
  String place() {
    return place;
  }

  /** Starts a server with its log in a directory under this one. */
  abstract Server start(Path directory);

  /** The settings that make the processor use this backend. */
  abstract Map<String, String> settings();
}
