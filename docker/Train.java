import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsSyncClientBuilder;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Has every library do what it does when the processor starts, and then what it does for records,
 * some thousand times over, for the image's AOT cache: it keeps their classes, and which of their
 * methods are hot and how they run, so that the JIT compiler need not find that out again. It knows
 * the libraries only: the cache is the same whatever the processor's own code is.
 */
final class Train {
  private static final int RECORDS = 20_000;
  private static final int BATCH = 25;
  private static final int SINGLE = 2_000;
  private static final int PAGES = 100;
  private static final ObjectMapper JSON = new ObjectMapper();

  private Train() {}

  public static void main(String[] args) throws Exception {
    // Without a configuration Logback logs everything, and that would be most of what is trained.
    ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
    Map<String, Object> settings =
        Map.of(
            "micronaut.server.port", "-1",
            "endpoints.health.sensitive", "false",
            "endpoints.prometheus.sensitive", "false",
            "micronaut.metrics.export.prometheus.enabled", "true");
    try (ApplicationContext context = ApplicationContext.run(settings);
        HttpClient http = HttpClient.newHttpClient()) {
      // By its address: a build may have a host name that it cannot resolve.
      int port = context.getBean(EmbeddedServer.class).start().getPort();
      URI server = URI.create("http://127.0.0.1:" + port);
      for (int page = 0; page < PAGES; page++) {
        for (String path : List.of("/health/liveness", "/health/readiness", "/prometheus")) {
          var _ = http.send(HttpRequest.newBuilder(server.resolve(path)).build(), BodyHandlers.ofString());
        }
      }
    }
    HttpServer aws = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    aws.createContext("/", Train::answer);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        TrainingBroker broker = new TrainingBroker()) {
      aws.setExecutor(threads);
      aws.start();
      URI endpoint = URI.create("http://127.0.0.1:" + aws.getAddress().getPort());
      try (DynamoDbClient dynamoDb = configure(DynamoDbClient.builder(), endpoint).build();
          S3Client s3 = configure(S3Client.builder(), endpoint).build()) {
        records(broker.bootstrapServers(), threads, dynamoDb, s3);
      }
    } finally {
      aws.stop(0);
    }
  }

  /** DynamoDB takes all statements and finds no item; S3 takes all objects. */
  private static void answer(HttpExchange exchange) throws IOException {
    String target = exchange.getRequestHeaders().getFirst("X-Amz-Target");
    byte[] request = exchange.getRequestBody().readAllBytes();
    byte[] body = new byte[0];
    if (target == null) {
      exchange.getResponseHeaders().set("ETag", "\"d41d8cd98f00b204e9800998ecf8427e\"");
      body = exchange.getRequestMethod().equals("GET") ? "{}".getBytes(StandardCharsets.UTF_8) : body;
    } else {
      exchange.getResponseHeaders().set("Content-Type", "application/x-amz-json-1.0");
      String answer = "{}";
      if (target.endsWith("BatchExecuteStatement")) {
        int statements = JSON.readTree(request).path("Statements").size();
        answer = "{\"Responses\":[%s]}".formatted("{\"TableName\":\"train\"},".repeat(statements).replaceAll(",$", ""));
      }
      body = answer.getBytes(StandardCharsets.UTF_8);
    }
    exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
    if (body.length > 0) {
      exchange.getResponseBody().write(body);
    }
    exchange.close();
  }

  private static void records(
      String servers, ExecutorService threads, DynamoDbClient dynamoDb, S3Client s3)
      throws Exception {
    var producing = Map.<String, Object>of("bootstrap.servers", servers, "linger.ms", 5);
    var consuming =
        Map.<String, Object>of(
            "bootstrap.servers", servers,
            "group.id", "train",
            "auto.offset.reset", "earliest",
            "enable.auto.commit", false);
    try (var producer =
            new KafkaProducer<>(producing, new ByteArraySerializer(), new ByteArraySerializer());
        var consumer =
            new KafkaConsumer<>(consuming, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
      var names = admin.listTopics().names();
      for (int n = 0; n < RECORDS; n++) {
        byte[] key = ("record-" + n).getBytes(StandardCharsets.UTF_8);
        producer.send(new ProducerRecord<>("input", key, new byte[200]));
        if (n % 1_000 == 999) {
          producer.flush();
        }
      }
      consumer.subscribe(List.of("input"));
      int seen = 0;
      while (seen < RECORDS) {
        List<ConsumerRecord<byte[], byte[]>> batch = new ArrayList<>();
        List<Future<?>> written = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
          batch.add(record);
          if (batch.size() == BATCH) {
            List<ConsumerRecord<byte[], byte[]>> whole = List.copyOf(batch);
            batch.clear();
            written.add(threads.submit(() -> process(whole, dynamoDb, producer)));
          }
          seen++;
        }
        for (Future<?> each : written) {
          each.get();
        }
        consumer.commitAsync();
      }
      names.get();
    }
    List<Future<?>> written = new ArrayList<>();
    for (int line = 0; line < BATCH; line++) {
      written.add(threads.submit(() -> single(dynamoDb, s3)));
    }
    for (Future<?> each : written) {
      each.get();
    }
  }

  /** Two batches of statements, and an outcome for each record. */
  private static Void process(
      List<ConsumerRecord<byte[], byte[]>> records,
      DynamoDbClient dynamoDb,
      KafkaProducer<byte[], byte[]> producer)
      throws Exception {
    for (String text : List.of(INSERT, UPDATE)) {
      List<BatchStatementRequest> statements = new ArrayList<>();
      for (ConsumerRecord<byte[], byte[]> record : records) {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(record.key());
        List<AttributeValue> values = new ArrayList<>();
        values.add(AttributeValue.fromS(HexFormat.of().formatHex(hash)));
        values.add(AttributeValue.fromB(SdkBytes.fromByteArrayUnsafe(record.key())));
        for (int i = 0; i < 8; i++) {
          values.add(AttributeValue.fromN(Long.toString(System.currentTimeMillis() + i)));
        }
        statements.add(BatchStatementRequest.builder().statement(text).parameters(values).build());
      }
      var _ = dynamoDb.batchExecuteStatement(batch -> batch.statements(statements));
    }
    for (ConsumerRecord<byte[], byte[]> record : records) {
      ObjectNode outcome = JSON.createObjectNode();
      outcome.put("id", new String(record.key(), StandardCharsets.UTF_8));
      outcome.put("outcome", "COMPLETED").put("offset", record.offset()).put("token", 1);
      byte[] told = JSON.writeValueAsBytes(outcome);
      JsonNode heard = JSON.readTree(told);
      producer.send(
          new ProducerRecord<>("outcomes", null, record.key(), told),
          (metadata, fault) -> heard.path("id").asText());
    }
    return null;
  }

  private static final String INSERT =
      "INSERT INTO \"train\" VALUE {'pk':?,'recordId':?,'a':?,'b':?,'c':?,'d':?,'e':?,'f':?,'g':?,'h':?}";
  private static final String UPDATE =
      "UPDATE \"train\" SET \"a\"=? SET \"b\"=? SET \"c\"=? SET \"d\"=? SET \"e\"=? SET \"f\"=? REMOVE \"g\" WHERE \"pk\"=? AND \"h\"=? AND \"i\"=? AND \"j\"=?";

  /** Requests of one write each, and reads. */
  private static void single(DynamoDbClient dynamoDb, S3Client s3) {
    Map<String, AttributeValue> item =
        Map.of(
            "pk", AttributeValue.fromS("train"),
            "recordId", AttributeValue.fromB(SdkBytes.fromUtf8String("train")),
            "fencingToken", AttributeValue.fromN("1"));
    Map<String, AttributeValue> key = Map.of("pk", AttributeValue.fromS("train"));
    for (int n = 0; n < SINGLE / BATCH; n++) {
      var _ = dynamoDb.getItem(get -> get.tableName("train").key(key).consistentRead(true));
      var _ =
          dynamoDb.putItem(
              put -> put.tableName("train").item(item).conditionExpression("attribute_not_exists(pk)"));
      var _ =
          dynamoDb.updateItem(
              update ->
                  update
                      .tableName("train")
                      .key(key)
                      .updateExpression("SET nonce = :nonce")
                      .expressionAttributeValues(Map.of(":nonce", AttributeValue.fromS("train"))));
      String name = "train/" + n;
      var _ =
          s3.putObject(
              put -> put.bucket("train").key(name).ifNoneMatch("*"), RequestBody.fromString("{}"));
      var _ = s3.getObjectAsBytes(get -> get.bucket("train").key(name));
    }
  }

  private static <B extends AwsClientBuilder<B, ?> & AwsSyncClientBuilder<B, ?>> B configure(
      B builder, URI endpoint) {
    return builder
        .region(Region.US_EAST_1)
        .endpointOverride(endpoint)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("train", "train")))
        .httpClientBuilder(Apache5HttpClient.builder().maxConnections(BATCH));
  }
}
