package io.firstclaim.processor.scenario;

import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.KafkaBroker;
import java.util.concurrent.CompletableFuture;

/** One Kafka and one DynamoDB Local for all scenarios of this JVM. They end with it. */
final class Servers {
  private static final CompletableFuture<DynamoDbServer> STARTING =
      CompletableFuture.supplyAsync(DynamoDbServer::start);

  static final KafkaBroker KAFKA = KafkaBroker.start();
  static final DynamoDbServer DYNAMO_DB = STARTING.join();

  private Servers() {}
}
