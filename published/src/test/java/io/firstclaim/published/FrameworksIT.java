package io.firstclaim.published;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.FreePort;
import io.firstclaim.stack.server.KafkaBroker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The samples for Spring and Micronaut, copied into an empty project, compile and run. */
class FrameworksIT {
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @TempDir private static Path folder;
  private static @Nullable NewProject used;
  private static @Nullable KafkaBroker broker;
  private static @Nullable DynamoDbServer table;

  @BeforeAll
  static void buildAProjectOfTheSamples() throws Exception {
    Repository repository = Repository.make(folder.resolve("published"));
    NewProject project = new NewProject(folder, repository);
    FrameworkSamples.spring(
        project,
        repository.version(
            "firstclaim-spring-boot-starter", "org.springframework.boot:spring-boot-starter"));
    FrameworkSamples.micronaut(
        project,
        System.getProperty("micronaut.version"),
        repository.version("firstclaim-micronaut", "io.micronaut:micronaut-context"));
    project.build();
    used = project;
    broker = KafkaBroker.start(JvmTuning.SHORT_RUN);
    table = DynamoDbServer.start(JvmTuning.SHORT_RUN);
    broker.createTopic("payments", 1);
    try (var producer = broker.producer()) {
      ProducerRecord<String, String> payment = new ProducerRecord<>("payments", "{\"amount\":100}");
      payment.headers().add("payment-id", "p1".getBytes(UTF_8));
      var _ = producer.send(payment);
    }
  }

  @AfterAll
  static void stop() {
    Objects.requireNonNull(broker).close();
    Objects.requireNonNull(table).close();
  }

  @Test
  void samplesForSpring_listen_answer_andReport() throws Exception {
    int port = FreePort.next();
    run(
        "spring",
        port,
        "spring.kafka.bootstrap-servers=" + Objects.requireNonNull(broker).bootstrapServers(),
        "server.port=" + port);
  }

  @Test
  void samplesForMicronaut_listen_answer_andReport() throws Exception {
    int port = FreePort.next();
    run(
        "micronaut",
        port,
        "kafka.bootstrap.servers=" + Objects.requireNonNull(broker).bootstrapServers(),
        "micronaut.server.port=" + port,
        "micronaut.application.name=shop-of-micronaut",
        "firstclaim.claim.create=true",
        "zone=b"); // a group of its own
  }

  private static void run(String module, int port, String... settings) throws Exception {
    JvmCommand command =
        JvmCommand.ofMain(
                module, Objects.requireNonNull(used).ownClassPath(module), "com.example.Shop")
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withJvmArgs(List.of(settings).stream().map("-D%s"::formatted).toList())
            .withEnv(Objects.requireNonNull(table).environment());
    try (ChildJvm child = ChildJvm.start(command, folder.resolve(module + ".log"))) {
      for (String said : List.of("started", "report ", "paid 100")) {
        child.awaitReady(said, () -> log(child).contains(said), LIMIT);
      }
      HttpResponse<String> answer = pay(port);
      assertThat(answer.statusCode()).as(child::logTail).isEqualTo(200);
      assertThat(answer.body()).contains("receipt of 7");
      assertThat(pay(port).headers().firstValue("Idempotent-Replayed")).hasValue("true");
    }
  }

  private static String log(ChildJvm child) {
    try {
      return Files.readString(child.log());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static HttpResponse<String> pay(int port) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/payments".formatted(port)))
              .header("Content-Type", "application/json")
              .header("Idempotency-Key", "key")
              .POST(BodyPublishers.ofString("{\"amount\":7}"))
              .build(),
          BodyHandlers.ofString());
    }
  }
}
