package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.stack.server.Unhurried;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** The items of a table of claims, as DynamoDB has them. */
final class DynamoDbClaims implements Claims {
  private final String table;
  private final DynamoDbClient client = client();

  DynamoDbClaims(String table) {
    this.table = table;
  }

  /** A client of the scenarios' own DynamoDB, which has all the time; for its caller to close. */
  static DynamoDbClient client() {
    return DynamoDbClient.builder()
        .endpointOverride(Servers.DYNAMO_DB.endpoint())
        .region(Region.EU_CENTRAL_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")))
        .httpClientBuilder(Apache5HttpClient.builder())
        .overrideConfiguration(override -> override.addExecutionInterceptor(new Unhurried()))
        .build();
  }

  @Override
  public List<Claim> all() {
    return client.scanPaginator(scan -> scan.tableName(table).consistentRead(true)).items().stream()
        .filter(item -> item.containsKey("claimState"))
        .map(DynamoDbClaims::claim)
        .filter(claim -> !claim.id().startsWith(Scenario.WARM_UP))
        .toList();
  }

  /** Forgets a claim, as its retention would. */
  void forget(String id) {
    for (Map<String, AttributeValue> item :
        client.scanPaginator(scan -> scan.tableName(table).consistentRead(true)).items()) {
      if (item.containsKey("claimState") && claim(item).id().equals(id)) {
        client.deleteItem(
            delete -> delete.tableName(table).key(Map.of("pk", attribute(item, "pk"))));
      }
    }
  }

  private static Claim claim(Map<String, AttributeValue> item) {
    return new Claim(
        new String(attribute(item, "recordId").b().asByteArray(), UTF_8),
        attribute(item, "claimState").s(),
        Long.parseLong(attribute(item, "fencingToken").n()),
        Integer.parseInt(attribute(item, "attempts").n()),
        item.containsKey("holder") ? attribute(item, "holder").s() : "");
  }

  private static AttributeValue attribute(Map<String, AttributeValue> item, String name) {
    return Objects.requireNonNull(item.get(name), name);
  }

  @Override
  public void close() {
    client.close();
  }
}
