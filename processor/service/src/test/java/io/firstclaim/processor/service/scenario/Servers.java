package io.firstclaim.processor.service.scenario;

import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.KafkaBroker;
import io.firstclaim.stack.server.S3Server;
import io.firstclaim.stack.server.SharedServers;
import java.util.concurrent.CompletableFuture;

/** One Kafka, one DynamoDB Local and one S3 for all scenarios, started side by side. */
final class Servers {
  private static final CompletableFuture<DynamoDbServer> STARTING_DYNAMO_DB =
      CompletableFuture.supplyAsync(SharedServers::dynamoDb);
  private static final CompletableFuture<S3Server> STARTING_S3 =
      CompletableFuture.supplyAsync(SharedServers::s3);

  static final KafkaBroker KAFKA = SharedServers.kafka();
  static final DynamoDbServer DYNAMO_DB = STARTING_DYNAMO_DB.join();
  static final S3Server S3 = STARTING_S3.join();

  private Servers() {}
}
