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
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
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

class ServersIT {
  /** Longer than the session that a broker has with its controller. */
  private static final Duration PAUSE = Duration.ofSeconds(3);

  private static KafkaBroker broker;

  @BeforeAll
  static void startBroker() {
    broker = KafkaBroker.start(JvmTuning.SHORT_RUN, KafkaBroker.SOON_BACK);
  }

  @AfterAll
  static void closeBroker() {
    broker.close();
  }

  @Test
  void broker_keepsRecordsAndPort_acrossKill() throws Exception {
    broker.createTopic("kept", 3);
    publish("kept", "one");
    assertThat(consume("kept", 1)).containsExactly("one");

    String address = broker.bootstrapServers();
    broker.kill();
    broker.restart();
    publish("kept", "two");

    assertThat(broker.bootstrapServers()).isEqualTo(address);
    assertThat(consume("kept", 2)).containsExactlyInAnyOrder("one", "two");
  }

  @Test
  void topicThatIsThere_isNotCreatedAgain() {
    broker.createTopic("there", 1);
    assertThatThrownBy(() -> broker.createTopic("there", 1))
        .hasMessage("topic there cannot be created: it is there already");
  }

  @Test
  void pausedBroker_answersNobody_andGoesOn_whenResumed() throws Exception {
    broker.createTopic("paused", 1);
    broker.pause();
    assertThatThrownBy(() -> publish("paused", "none", PAUSE))
        .cause()
        .isInstanceOf(TimeoutException.class);
    broker.resume();
    publish("paused", "one");
    assertThat(consume("paused", 1)).containsExactly("one");
  }

  @Test
  void dynamoDb_checksConditions_andIsEmptyAfterRestart() {
    try (DynamoDbServer server = DynamoDbServer.start(JvmTuning.SHORT_RUN)) {
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
  void failedStart_showsTheEndOfTheLog(@TempDir Path directory) {
    assertThatThrownBy(
            () ->
                KafkaBroker.start(directory, JvmTuning.SHORT_RUN, Map.of("num.io.threads", "none")))
        .isInstanceOf(StackException.class)
        .hasMessageContaining("Kafka ended with exit code 1")
        .hasMessageContaining("num.io.threads");
  }

  private static void publish(String topic, String value) throws Exception {
    publish(topic, value, Duration.ofMinutes(1));
  }

  private static void publish(String topic, String value, Duration limit) throws Exception {
    Map<String, Object> config =
        Map.of(
            "bootstrap.servers",
            broker.bootstrapServers(),
            "max.block.ms",
            Long.toString(limit.toMillis()),
            "request.timeout.ms", // which closing waits for
            Long.toString(limit.toMillis()));
    try (var producer =
        new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
      producer.send(new ProducerRecord<>(topic, value)).get();
    }
  }

  private static List<String> consume(String topic, int wanted) {
    Map<String, Object> config =
        Map.of(
            "bootstrap.servers",
            broker.bootstrapServers(),
            "group.id",
            topic + wanted,
            "auto.offset.reset",
            "earliest");
    List<String> values = new ArrayList<>();
    try (var consumer =
        new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(List.of(topic));
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
