package io.firstclaim.bench;

import io.firstclaim.bench.Backend.Session;
import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.dataset.DatasetHandler;
import io.firstclaim.processor.dataset.DatasetReader;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.S3Object;

/** How fast two zones write a dataset, and what they send beside its objects. */
final class RegistryBench {
  private static final int RECORDS = 15_000;
  private static final int BYTES = 1_000;
  private static final int WARM_UP = 2;
  private static final int ROUNDS = 3;

  /** The records of those runs that are there to be compared with, and take longer. */
  private static final int FEWER_RECORDS = 6_000;

  /** As many as an instance writes at once. */
  private static final int AT_ONCE = 96;

  private static final Duration LATENCY = Duration.ofMillis(25);
  private static final List<String> ZONES = List.of("a", "b");

  private final Stack stack;
  private final S3 s3;
  private final DynamoDb dynamoDb;
  private final Table table;

  RegistryBench(Stack stack, S3 s3, DynamoDb dynamoDb, Table table) {
    this.stack = stack;
    this.s3 = s3;
    this.dynamoDb = dynamoDb;
    this.table = table;
  }

  /** Where the claims of a run are. */
  private interface Claims extends AutoCloseable {
    ClaimStore store(Plan plan);

    @Override
    void close();

    static Claims inMemory() {
      MemoryClaimStore.Claims shared = new MemoryClaimStore.Claims();
      return new Claims() {
        @Override
        public ClaimStore store(Plan plan) {
          return new MemoryClaimStore(shared, plan.store(), TimeSource.system());
        }

        @Override
        public void close() {}
      };
    }

    static Claims in(Backend backend) {
      Session session = backend.open(backend.endpoint(), backend.newPlace());
      return new Claims() {
        @Override
        public ClaimStore store(Plan plan) {
          return session.store(plan);
        }

        @Override
        public void close() {
          session.close();
        }
      };
    }
  }

  /**
   * What two zones did.
   *
   * @param figure from a tenth of the records completed to nine tenths
   * @param requests of all, by what they were for
   */
  private record Run(Figure figure, SortedMap<String, Long> requests, int records) {
    /** How many requests there were for each object, beyond the one that writes it. */
    double beside() {
      long all = requests.values().stream().mapToLong(Long::longValue).sum();
      return (all - records) / (double) records;
    }
  }

  /**
   * One after the other, as the machine's speed changes.
   *
   * @param bare the objects alone, as many at once as one instance writes
   * @param wide the same, as many as two do
   */
  private record Round(Figure bare, Figure wide, Run own) {}

  void updates() throws Exception {
    List<Round> near = rounds(WARM_UP, RECORDS, Duration.ZERO, Claims::inMemory);
    speedRow("dataset records of two zones, claims in memory", near, 0.8);
    requestsRow(near);
    List<Round> far = rounds(0, RECORDS, LATENCY, Claims::inMemory);
    speedRow("the same, 25 ms added to each request to S3", far, 0.8);
    requestsRow(far);
    withClaimsIn(s3);
    withClaimsIn(dynamoDb);
  }

  private void withClaimsIn(Backend backend) throws Exception {
    List<Round> rounds = rounds(1, FEWER_RECORDS, Duration.ZERO, () -> Claims.in(backend));
    speedRow("dataset records of two zones, claims on " + backend.name(), rounds, 0);
    requestsRow(rounds);
  }

  private List<Round> rounds(int warmUp, int records, Duration latency, Supplier<Claims> claims)
      throws Exception {
    List<Round> rounds = new ArrayList<>();
    for (int n = 0; n < warmUp + ROUNDS; n++) {
      Round round =
          new Round(
              bareSdk(records, AT_ONCE, latency),
              bareSdk(records, 2 * AT_ONCE, latency),
              run(records, latency, claims.get()));
      System.out.printf(
          "  round %d: bare SDK %s; twice as many at once %s; dataset %s%n",
          n, round.bare, round.wide, round.own.figure);
      if (n >= warmUp) {
        rounds.add(round);
      }
    }
    return rounds;
  }

  private void speedRow(String what, List<Round> rounds, double least) {
    double ratio = Median.of(rounds, one -> one.own.figure.perSecond() / one.bare.perSecond());
    double toWide = Median.of(rounds, one -> one.own.figure.perSecond() / one.wide.perSecond());
    table.add(
        what,
        "%,.0f records/s".formatted(Median.of(rounds, one -> one.own.figure.perSecond())),
        "bare SDK, the objects alone, %d at once %,.0f records/s; %d at once %,.0f"
            .formatted(
                AT_ONCE,
                Median.of(rounds, one -> one.bare.perSecond()),
                2 * AT_ONCE,
                Median.of(rounds, one -> one.wide.perSecond())),
        "%.0f %%; %.0f %%".formatted(100 * ratio, 100 * toWide),
        least == 0 ? "" : "≥ %.0f %%".formatted(100 * least),
        ratio >= least);
  }

  private void requestsRow(List<Round> rounds) {
    double requests = Median.of(rounds, one -> one.own.beside());
    Run last = rounds.getLast().own;
    table.add(
        "requests of such a record beyond object and claim",
        "%.3f".formatted(requests),
        "%,d records: %s".formatted(last.records, last.requests),
        "",
        "≤ 0.05",
        requests <= 0.05);
  }

  /** As many such objects, each on the condition that it is new. */
  private Figure bareSdk(int records, int atOnce, Duration latency)
      throws InterruptedException, ExecutionException {
    String prefix = stack.name("bare") + "/datasets/";
    Map<String, String> metadata = Map.of("firstclaim-sha256", "0".repeat(64));
    try (S3Client client = new Requests(latency).countedBy(client()).build()) {
      Figure figure =
          Session.atOnce(
              records,
              atOnce,
              n -> {
                String key = prefix + RecordId.of("id-" + n).key("bare");
                client.putObject(
                    put ->
                        put.bucket(S3.BUCKET)
                            .key(key)
                            .ifNoneMatch("*")
                            .contentType("application/octet-stream")
                            .metadata(metadata),
                    RequestBody.fromBytes(new byte[BYTES]));
              });
      S3.delete(client, prefix);
      return figure;
    }
  }

  private Run run(int records, Duration latency, Claims claims) throws Exception {
    String prefix = stack.name("lake") + "/";
    String topic = stack.topicOf(records, BYTES);
    Optional<String> outcomes = Instance.outcomes(stack);
    Plan a = Plan.of(topic, outcomes).zone("a", ZONES);
    Plan b = Plan.of(topic, outcomes).zone("b", ZONES);
    Requests requests = new Requests(latency);
    try (S3Client client = requests.countedBy(client()).build();
        S3Client direct = client().build();
        claims;
        Instance zoneA = new Instance(stack, a, claims.store(a), handler(client, prefix));
        Instance zoneB = new Instance(stack, b, claims.store(b), handler(client, prefix))) {
      List<Instance> zones = List.of(zoneA.start(), zoneB.start());
      long first = Instance.await(records / 10, zones, Instance::completed);
      Figure.Start start = Figure.start();
      long last = Instance.await(records - records / 10, zones, Instance::completed);
      Figure figure = start.end(last - first);
      long _ = Instance.await(records, zones, Instance::completed);
      requests.awaitQuiet();
      requireAllListed(direct, prefix, records);
      S3.delete(direct, prefix);
      return new Run(figure, requests.counts(), records);
    }
  }

  private static void requireAllListed(S3Client client, String prefix, int records)
      throws InterruptedException {
    List<String> listed = new ArrayList<>();
    new DatasetReader(client, S3.BUCKET, prefix)
        .snapshot()
        .forEach(null, null, file -> listed.add(prefix + file.file().path()));
    Set<String> there =
        client
            .listObjectsV2Paginator(list -> list.bucket(S3.BUCKET).prefix(prefix + "datasets/"))
            .contents()
            .stream()
            .map(S3Object::key)
            .collect(Collectors.toSet());
    if (listed.size() != records || !there.equals(Set.copyOf(listed))) {
      throw new IllegalStateException(
          "%d files listed, %d there".formatted(listed.size(), there.size()));
    }
  }

  /** As the service has it by default. */
  private static RecordHandler handler(S3Client lake, String prefix) {
    DatasetSettings settings =
        new DatasetSettings(S3.BUCKET, prefix, 8 << 20, Duration.ofSeconds(1));
    DatasetHandler handler =
        new DatasetHandler(new Dataset(lake, settings, "bench", TimeSource.system()), () -> {});
    // Without its open(), which tries the bucket by some requests.
    return context -> handler.handle(context);
  }

  private S3ClientBuilder client() {
    return Stack.at(s3.endpoint(), Dataset.configure(S3Client.builder()))
        .httpClientBuilder(Apache5HttpClient.builder().maxConnections(Stack.CONNECTIONS));
  }
}
