package io.firstclaim.stack.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.lock.testkit.process.StackException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

@Timeout(120)
class ServersIT {

  @Test
  void broker_keepsRecordsAndPort_acrossKill() throws Exception {
    long start = System.nanoTime();
    try (KafkaBroker broker = KafkaBroker.start(JvmTuning.SHORT_RUN)) {
      report("Kafka start", start);
      broker.createTopic("events", 3);
      publish(broker, "one");
      start = System.nanoTime();
      assertThat(consume(broker, 1)).containsExactly("one");
      report("first group", start);

      String address = broker.bootstrapServers();
      broker.kill();
      start = System.nanoTime();
      broker.restart();
      report("Kafka restart", start);
      publish(broker, "two");

      assertThat(broker.bootstrapServers()).isEqualTo(address);
      assertThat(consume(broker, 2)).containsExactlyInAnyOrder("one", "two");
    }
  }

  @Test
  void pausedBroker_goesOn_whenResumed() throws Exception {
    try (KafkaBroker broker = KafkaBroker.start(JvmTuning.SHORT_RUN)) {
      broker.createTopic("events", 1);
      broker.pause();
      Thread.sleep(Duration.ofSeconds(3));
      broker.resume();
      publish(broker, "one");
      assertThat(consume(broker, 1)).containsExactly("one");
    }
  }

  @Test
  void dynamoDb_checksConditions_andIsEmptyAfterRestart() {
    long start = System.nanoTime();
    try (DynamoDbServer server = DynamoDbServer.start(JvmTuning.SHORT_RUN)) {
      report("DynamoDB Local start", start);
      try (DynamoDbClient client = client(server)) {
        createTable(client);
        putNew(client, "id", "first");

        assertThatThrownBy(() -> putNew(client, "id", "second"))
            .isInstanceOfSatisfying(
                ConditionalCheckFailedException.class,
                e -> assertThat(e.item()).containsEntry("who", AttributeValue.fromS("first")));

        server.pause();
        server.resume();
        server.kill();
        server.restart();
        assertThat(client.listTables().tableNames()).isEmpty();
      }
    }
  }

  @Test
  void bothServers_start_inParallel() throws Exception {
    long start = System.nanoTime();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var kafka = threads.submit(() -> KafkaBroker.start(JvmTuning.SHORT_RUN));
      var dynamoDb = threads.submit(() -> DynamoDbServer.start(JvmTuning.SHORT_RUN));
      try (KafkaBroker _ = kafka.get();
          DynamoDbServer _ = dynamoDb.get()) {
        report("both", start);
      }
    }
  }

  @Test
  void failedStart_showsTheEndOfTheLog(@TempDir Path directory) {
    assertThatThrownBy(
            () ->
                KafkaBroker.start(directory, JvmTuning.SHORT_RUN, Map.of("num.io.threads", "none")))
        .isInstanceOf(StackException.class)
        .hasMessageContaining("Kafka ended with exit code 1")
        .hasMessageContaining("num.io.threads");
  }

  private static void report(String what, long start) {
    System.out.printf("%s: %d ms%n", what, (System.nanoTime() - start) / 1_000_000);
  }

  private static void publish(KafkaBroker broker, String value) throws Exception {
    Map<String, Object> config = Map.of("bootstrap.servers", broker.bootstrapServers());
    try (var producer =
        new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
      producer.send(new ProducerRecord<>("events", value)).get();
    }
  }

  private static List<String> consume(KafkaBroker broker, int wanted) {
    Map<String, Object> config =
        Map.of(
            "bootstrap.servers",
            broker.bootstrapServers(),
            "group.id",
            "group-" + wanted,
            "auto.offset.reset",
            "earliest");
    List<String> values = new ArrayList<>();
    try (var consumer =
        new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(List.of("events"));
      while (values.size() < wanted) {
        consumer.poll(Duration.ofMillis(100)).forEach(each -> values.add(each.value()));
      }
    }
    return values;
  }

  private static DynamoDbClient client(DynamoDbServer server) {
    return DynamoDbClient.builder()
        .endpointOverride(server.endpoint())
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")))
        .httpClientBuilder(UrlConnectionHttpClient.builder())
        .build();
  }

  private static void createTable(DynamoDbClient client) {
    client.createTable(
        table ->
            table
                .tableName("claims")
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .keySchema(
                    KeySchemaElement.builder().attributeName("id").keyType(KeyType.HASH).build())
                .attributeDefinitions(
                    AttributeDefinition.builder()
                        .attributeName("id")
                        .attributeType(ScalarAttributeType.S)
                        .build()));
  }

  private static void putNew(DynamoDbClient client, String id, String who) {
    client.putItem(
        put ->
            put.tableName("claims")
                .item(Map.of("id", AttributeValue.fromS(id), "who", AttributeValue.fromS(who)))
                .conditionExpression("attribute_not_exists(id)")
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD));
  }
}
