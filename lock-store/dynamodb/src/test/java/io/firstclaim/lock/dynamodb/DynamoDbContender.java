package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.testkit.mutex.Contender;
import java.net.URI;
import java.util.List;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** A process of contenders on DynamoDB: the endpoint, then the contender's arguments. */
final class DynamoDbContender {
  private DynamoDbContender() {}

  public static void main(String[] args) throws Exception {
    Contender contender = Contender.of(List.of(args).subList(1, args.length));
    try (DynamoDbClient client = LocalDynamoDb.builder(URI.create(args[0])).build()) {
      contender.run((settings, time) -> LocalDynamoDb.store(client, settings, time));
    }
  }
}
