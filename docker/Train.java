import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Has every library do once what it does when the processor starts, for the image's AOT cache. It
 * knows the libraries only: the cache is the same whatever the processor's own code is.
 */
final class Train {
  /** Nobody listens there. */
  private static final URI NOWHERE = URI.create("http://127.0.0.1:9");

  private Train() {}

  public static void main(String[] args) throws Exception {
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
      for (String path : List.of("/health/liveness", "/health/readiness", "/prometheus")) {
        var _ = http.send(HttpRequest.newBuilder(server.resolve(path)).build(), BodyHandlers.ofString());
      }
    }
    kafka();
    dynamoDb();
    s3();
  }

  private static void kafka() throws Exception {
    Map<String, Object> settings = Map.of("bootstrap.servers", "127.0.0.1:9", "group.id", "train");
    Duration moment = Duration.ofMillis(300);
    try (var producer =
            new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        var consumer =
            new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Admin admin = Admin.create(settings)) {
      var names = admin.listTopics().names();
      consumer.subscribe(List.of("train"));
      consumer.poll(moment);
      TimeUnit.MILLISECONDS.sleep(moment.toMillis());
      names.cancel(true);
      admin.close(Duration.ZERO);
      producer.close(Duration.ZERO);
    }
  }

  private static void dynamoDb() {
    try (DynamoDbClient client = configure(DynamoDbClient.builder()).build()) {
      client.getItem(get -> get.tableName("train").key(Map.of()));
    } catch (SdkException expected) {
      // Nobody listens.
    }
  }

  private static void s3() {
    try (S3Client client = configure(S3Client.builder()).build()) {
      client.getObjectAsBytes(get -> get.bucket("train").key("train"));
    } catch (SdkException expected) {
      // Nobody listens.
    }
  }

  private static <B extends AwsClientBuilder<B, ?> & software.amazon.awssdk.awscore.client.builder.AwsSyncClientBuilder<B, ?>> B configure(B builder) {
    return builder
        .region(Region.US_EAST_1)
        .endpointOverride(NOWHERE)
        .credentialsProvider(AnonymousCredentialsProvider.create())
        .overrideConfiguration(each -> each.retryStrategy(retry -> retry.maxAttempts(1)))
        .httpClientBuilder(Apache5HttpClient.builder());
  }
}
