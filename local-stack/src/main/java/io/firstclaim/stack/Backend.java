package io.firstclaim.stack;

import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.AwsPrefix;
import io.firstclaim.stack.server.AwsTable;
import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.S3Server;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Where the main job's claims are kept. */
enum Backend {
  DYNAMODB("DynamoDB Local", "AWS_ENDPOINT_URL_DYNAMODB", "table firstclaim", AwsTable.PROPERTY) {
    @Override
    Server start(Path directory) {
      DynamoDbServer server =
          DynamoDbServer.start(directory.resolve("dynamodb"), JvmTuning.SHORT_RUN);
      return new Server(Optional.of(server.endpoint()), settings("firstclaim"), server::close);
    }

    @Override
    Server inAws(String place) {
      AwsTable table = AwsTable.open(place);
      return new Server(Optional.empty(), settings(place), table::close);
    }

    private Map<String, String> settings(String table) {
      return Map.of(
          "FIRSTCLAIM_CLAIM_BACKEND", "dynamodb", "FIRSTCLAIM_CLAIM_DYNAMODB_TABLE", table);
    }
  },
  S3("S3Proxy", "AWS_ENDPOINT_URL_S3", "bucket firstclaim, prefix claims/", AwsPrefix.PROPERTY) {
    @Override
    Server start(Path directory) {
      S3Server server = S3Server.start(directory.resolve("s3"), JvmTuning.SHORT_RUN);
      return new Server(
          Optional.of(server.endpoint()), settings("firstclaim", "claims/"), server::close);
    }

    @Override
    Server inAws(String place) {
      AwsPrefix prefix = AwsPrefix.open(place);
      return new Server(Optional.empty(), settings(place, prefix.prefix()), prefix::close);
    }

    private Map<String, String> settings(String bucket, String prefix) {
      return Map.of(
          "FIRSTCLAIM_CLAIM_BACKEND",
          "s3",
          "FIRSTCLAIM_CLAIM_S3_BUCKET",
          bucket,
          "FIRSTCLAIM_CLAIM_S3_PREFIX",
          prefix);
    }
  };

  /**
   * Where the claims are while the job runs; closing ends it.
   *
   * @param endpoint a server of this job's own; empty for one that the AWS SDK's settings name
   * @param settings what makes the processor use it
   */
  record Server(Optional<URI> endpoint, Map<String, String> settings, Runnable end)
      implements AutoCloseable {
    @Override
    public void close() {
      end.run();
    }
  }

  private final String server;
  private final String endpointVariable;
  private final String place;
  private final String awsProperty;

  Backend(String server, String endpointVariable, String place, String awsProperty) {
    this.server = server;
    this.endpointVariable = endpointVariable;
    this.place = place;
    this.awsProperty = awsProperty;
  }

  /** The system property that names a table or bucket to use instead of a server of the job's. */
  String awsProperty() {
    return awsProperty;
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

  /** Uses this table or bucket in AWS, with an environment that has the AWS SDK's settings. */
  abstract Server inAws(String place);
}
