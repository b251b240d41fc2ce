package io.firstclaim.processor.service.scenario;

import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.KafkaBroker;
import io.firstclaim.stack.server.S3Server;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** One Kafka, one DynamoDB Local and one S3 for all scenarios of this JVM. They end with it. */
final class Servers {
  private static final CompletableFuture<DynamoDbServer> STARTING_DYNAMO_DB =
      Start.of(DynamoDbServer::start);
  private static final CompletableFuture<S3Server> STARTING_S3 = Start.of(S3Server::start);

  static final KafkaBroker KAFKA = KafkaBroker.start(JvmTuning.SHORT_RUN);
  static final DynamoDbServer DYNAMO_DB = STARTING_DYNAMO_DB.join();
  static final S3Server S3 = STARTING_S3.join();

  private Servers() {}

  /**
   * A class of its own: a thread that starts a server must not wait for this one's initialising.
   */
  private static final class Start {
    static <T> CompletableFuture<T> of(Function<JvmTuning, T> start) {
      return CompletableFuture.supplyAsync(() -> start.apply(JvmTuning.SHORT_RUN));
    }
  }
}
