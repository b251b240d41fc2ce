package io.firstclaim.processor.service.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.dataset.DatasetHandler;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.service.bench.Backend.Session;
import io.firstclaim.processor.service.bench.Instance.Plan;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;

/** How many records share an update of the dataset's registry, and whether all are in it. */
final class RegistryBench {
  private static final int RECORDS = 5_000;
  private static final int MOST_UPDATES = 200;
  private static final int AT_ONCE = 96;
  private static final List<String> ZONES = List.of("a", "b");
  private static final String REGISTRY = "metastore/dataset_registry.json";

  private final Stack stack;
  private final S3 s3;
  private final Table table;

  RegistryBench(Stack stack, S3 s3, Table table) {
    this.stack = stack;
    this.s3 = s3;
    this.table = table;
  }

  /** Two zones, claims and dataset on the S3 endpoint. */
  void updates() throws Exception {
    String prefix = stack.name("lake") + "/";
    try (FaultProxy proxy = FaultProxy.start(s3.endpoint());
        S3Client lake = client(proxy.endpoint())) {
      Rule updates =
          proxy.add(
              Rule.always(
                  Match.operation("PUT").and(Match.pathContains(REGISTRY)),
                  new Fault.DelayRequest(Duration.ZERO)));
      Rule manifests =
          proxy.add(
              Rule.always(
                  Match.pathContains("metastore/manifests/"),
                  new Fault.DelayRequest(Duration.ZERO)));
      Rule reads =
          proxy.add(
              Rule.always(Match.pathContains(REGISTRY), new Fault.DelayRequest(Duration.ZERO)));
      double bare = bareSdk();
      Figure figure = run(lake, prefix);
      long listed = listed(lake, prefix);
      long there =
          lake
              .listObjectsV2Paginator(list -> list.bucket(S3.BUCKET).prefix(prefix + "datasets/"))
              .contents()
              .stream()
              .count();
      table.add(
          "registry updates, 5,000 dataset records of two zones",
          "%d updates".formatted(updates.hits()),
          "%,d files, %,d listed; %,.0f records/s".formatted(there, listed, figure.perSecond()),
          "",
          "≤ %d, none lost".formatted(MOST_UPDATES),
          updates.hits() <= MOST_UPDATES && there == RECORDS && listed == RECORDS);
      table.add(
          "those records, claims too",
          "%,.0f records/s".formatted(figure.perSecond()),
          "bare SDK, the objects alone %,.0f records/s".formatted(bare),
          "%.0f %%".formatted(100 * figure.perSecond() / bare),
          "≥ 80 %",
          figure.perSecond() / bare >= 0.8);
      double requests = (updates.hits() + reads.hits() + manifests.hits()) / (double) RECORDS;
      table.add(
          "requests of such a record for root and manifests",
          "%.3f".formatted(requests),
          "",
          "",
          "≤ 0.05",
          requests <= 0.05);
    }
  }

  /** As many objects of that size, each on the condition that it is new, by as many threads. */
  private double bareSdk() throws Exception {
    String prefix = stack.name("bare") + "/";
    try (S3Client client = client(s3.endpoint());
        ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE)) {
      double best = 0;
      for (int round = 0; round < 2; round++) { // the first one warms up
        String folder = prefix + round + "/";
        List<Callable<Object>> writes = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
          String key = folder + RecordId.of("id-" + i).key("bare");
          writes.add(
              () ->
                  client.putObject(
                      put -> put.bucket(S3.BUCKET).key(key).ifNoneMatch("*"),
                      RequestBody.fromBytes(new byte[1_000])));
        }
        long begin = System.nanoTime();
        for (Future<Object> one : threads.invokeAll(writes)) {
          var _ = one.get();
        }
        best = Math.max(best, RECORDS / ((System.nanoTime() - begin) / 1e9));
      }
      return best;
    }
  }

  private Figure run(S3Client lake, String prefix) throws InterruptedException {
    String topic = stack.topicOf(RECORDS, 1_000);
    Optional<String> outcomes = Instance.outcomes(stack);
    Plan a = Plan.of(topic, outcomes).zone("a", ZONES);
    Plan b = Plan.of(topic, outcomes).zone("b", ZONES);
    String claims = s3.newPlace();
    try (Session sessionA = s3.open(s3.endpoint(), claims);
        Session sessionB = s3.open(s3.endpoint(), claims);
        Instance zoneA = new Instance(stack, a, sessionA.store(a), handler(lake, prefix));
        Instance zoneB = new Instance(stack, b, sessionB.store(b), handler(lake, prefix))) {
      return Instance.measure(RECORDS, List.of(zoneA, zoneB), Instance::completed);
    }
  }

  /** As the service has it by default. */
  private static DatasetHandler handler(S3Client lake, String prefix) {
    DatasetSettings settings =
        new DatasetSettings(S3.BUCKET, prefix, 8 << 20, Duration.ofSeconds(1));
    return new DatasetHandler(new Dataset(lake, settings, "bench", TimeSource.system()), () -> {});
  }

  private static S3Client client(URI endpoint) {
    return Stack.at(endpoint, Dataset.configure(S3Client.builder()))
        .httpClientBuilder(Apache5HttpClient.builder().maxConnections(Stack.CONNECTIONS))
        .build();
  }

  private static long listed(S3Client lake, String prefix) throws IOException {
    byte[] registry =
        lake.getObjectAsBytes(get -> get.bucket(S3.BUCKET).key(prefix + REGISTRY)).asByteArray();
    return new ObjectMapper().readTree(registry).required("files").asLong();
  }
}
