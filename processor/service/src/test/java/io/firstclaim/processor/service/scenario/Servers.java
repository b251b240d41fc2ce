package io.firstclaim.processor.service.scenario;

import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.KafkaBroker;
import io.firstclaim.stack.server.S3Server;
import java.util.concurrent.CompletableFuture;

/** One Kafka, one DynamoDB Local and one S3 for all scenarios of this JVM. They end with it. */
final class Servers {
  private static final CompletableFuture<DynamoDbServer> STARTING_DYNAMO_DB =
      CompletableFuture.supplyAsync(DynamoDbServer::start);
  private static final CompletableFuture<S3Server> STARTING_S3 =
      CompletableFuture.supplyAsync(S3Server::start);

  static final KafkaBroker KAFKA = KafkaBroker.start();
  static final DynamoDbServer DYNAMO_DB = STARTING_DYNAMO_DB.join();
  static final S3Server S3 = STARTING_S3.join();

  private Servers() {}
}
