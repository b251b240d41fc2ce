package io.firstclaim.bench;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.dataset.DatasetReader;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.dataset.StoreResult;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;

/** What the root of a dataset costs when a million files are listed. */
final class DatasetBench {
  private static final int YEAR = 2025;
  private static final int DAYS = 365;
  private static final int FEW_DAYS = 4;
  private static final int FEW = 10_000;
  private static final int MANY = 1_000_000;
  private static final int WARM_UP = 100;
  private static final int UPDATES = 200;

  /**
   * With a thousand manifests that are not full, and more than one a partition, some are merged.
   */
  private static final int UNMERGED = 999;

  private static final int MOST_BYTES = 256 << 10;
  private static final String ROOT = "metastore/dataset_registry.json";

  private final Stack stack;
  private final S3 s3;
  private final Table table;

  DatasetBench(Stack stack, S3 s3, Table table) {
    this.stack = stack;
    this.s3 = s3;
    this.table = table;
  }

  /** What one update took in each lake, in milliseconds. */
  private record Round(double few, double fewDays, double many) {}

  /** One file after the other is written and listed, each with an update of its own. */
  void root() throws InterruptedException {
    Requests requests = new Requests(Duration.ZERO);
    try (S3Client client =
        requests
            .countedBy(Stack.at(s3.endpoint(), Dataset.configure(S3Client.builder())))
            .httpClientBuilder(Apache5HttpClient.builder().maxConnections(Stack.CONNECTIONS))
            .build()) {
      Lake few = new Lake(client, requests, stack.name("few") + "/", FEW, DAYS);
      Lake fewDays = new Lake(client, requests, stack.name("days") + "/", FEW, FEW_DAYS);
      Lake many = new Lake(client, requests, stack.name("many") + "/", MANY, DAYS);
      List<Round> rounds = new ArrayList<>();
      for (int n = 0; n < WARM_UP + UPDATES; n++) {
        Round round = new Round(few.update(), fewDays.update(), many.update());
        if (n >= WARM_UP) {
          rounds.add(round);
        }
      }
      double ofMany = Median.of(rounds, Round::many);
      double ratio = Median.of(rounds, one -> one.many / one.few);
      table.add(
          "update of the root, 1,000,000 files in 365 partitions",
          "%.2f ms".formatted(ofMany),
          "10,000 files in 365 partitions %.2f ms".formatted(Median.of(rounds, Round::few)),
          "%.2f ×".formatted(ratio),
          "≤ 1.5 ×",
          ratio <= 1.5);
      double toFewDays = Median.of(rounds, one -> one.many / one.fewDays);
      table.add(
          "the same",
          "%.2f ms".formatted(ofMany),
          "10,000 files in 4 partitions %.2f ms".formatted(Median.of(rounds, Round::fewDays)),
          "%.2f ×".formatted(toFewDays),
          "≤ 1.5 ×",
          toFewDays <= 1.5);
      size(many);
      list(client, many);
      for (Lake lake : List.of(few, fewDays, many)) {
        S3.delete(client, lake.prefix);
      }
    }
  }

  /** Fills the lake until it is right before a merge of manifests. */
  private void size(Lake many) throws InterruptedException {
    while (many.manifests() < UNMERGED) {
      var _ = many.update();
    }
    int bytes = many.rootSize();
    table.add(
        "size of that root, with %d manifests not merged yet".formatted(many.manifests()),
        "%,d bytes".formatted(bytes),
        "",
        "",
        "≤ %,d".formatted(MOST_BYTES),
        bytes <= MOST_BYTES);
  }

  private void list(S3Client client, Lake many) throws InterruptedException {
    AtomicLong listed = new AtomicLong();
    Figure.Start start = Figure.start();
    new DatasetReader(client, S3.BUCKET, many.prefix)
        .snapshot()
        .forEach(null, null, _ -> listed.incrementAndGet());
    Figure figure = start.end(listed.get());
    table.add(
        "listing of its %,d files".formatted(listed.get()),
        "%.1f s".formatted(figure.wall().toMillis() / 1e3),
        figure.toString(),
        "",
        "",
        listed.get() == many.files());
  }

  /** A dataset whose root and manifests were written for it. */
  private static final class Lake {
    private final S3Client client;
    private final Requests requests;
    private final String prefix;
    private final Dataset dataset;
    private final int days;
    private final int files;
    private int number;

    Lake(S3Client client, Requests requests, String prefix, int files, int days) {
      this.client = client;
      this.requests = requests;
      this.prefix = prefix;
      this.days = days;
      this.files = files;
      this.dataset =
          new Dataset(
              client,
              new DatasetSettings(S3.BUCKET, prefix, 8 << 20, Duration.ZERO),
              "bench",
              TimeSource.system());
      write();
    }

    private void write() {
      List<String> partitions = new ArrayList<>();
      for (int day = 0; day < days; day++) {
        LocalDate date = LocalDate.ofYearDay(YEAR, day + 1);
        String path =
            "orders/year=%d/month=%02d/day=%02d"
                .formatted(YEAR, date.getMonthValue(), date.getDayOfMonth());
        String name = "%032x".formatted(day);
        int here = files / days + (day < files % days ? 1 : 0);
        put(
            "metastore/manifests/" + path + "/" + name + ".jsonl",
            manifest("datasets/" + path, here));
        partitions.add(
            ("{\"partition\": \"datasets/%s\", \"files\": %d, \"bytes\": %d,"
                    + " \"updatedAt\": \"2026-07-04T12:00:00.123456Z\", \"manifests\": [\n"
                    + "{\"name\": \"%s\", \"files\": %d, \"bytes\": %d, \"names\": \"%s\"}]}")
                .formatted(path, here, 1_000L * here, name, here, 1_000L * here, namesOf(here)));
      }
      put(
          ROOT,
          ("{\"schemaVersion\": 2, \"version\": 1, \"updatedAt\": \"2026-07-04T12:00:00Z\","
                  + " \"files\": %d, \"bytes\": %d, \"partitions\": [\n%s]}")
              .formatted(files, 1_000L * files, String.join(",\n", partitions)));
    }

    private void put(String path, String text) {
      client.putObject(
          put -> put.bucket(S3.BUCKET).key(prefix + path), RequestBody.fromString(text));
    }

    private static long bits(int number) {
      return 0x9E3779B97F4A7C15L * (number + 1);
    }

    private static String namesOf(int files) {
      long names = 0;
      for (int i = 0; i < files; i++) {
        names ^= bits(i);
      }
      return HexFormat.of().toHexDigits(names);
    }

    /** As a flush of records writes it. */
    private static String manifest(String partition, int files) {
      StringBuilder text = new StringBuilder();
      text.append(
          "{\"schemaVersion\":2,\"partition\":\"%s\",\"files\":%d}".formatted(partition, files));
      for (int i = 0; i < files; i++) {
        String hash = HexFormat.of().toHexDigits(bits(i)).repeat(4);
        text.append("\n{\"name\":\"").append(hash).append("\",\"bytes\":1000,\"sha256\":\"");
        text.append(hash).append("\",\"id\":\"order-").append(i);
        text.append("\",\"timestamp\":\"2025-07-04T12:00:00.123Z\"}");
      }
      return text.append('\n').toString();
    }

    /**
     * Milliseconds from the answer for the object to its being listed; each in another partition,
     * so that nothing is merged.
     */
    double update() throws InterruptedException {
      RecordId id = RecordId.of("id-" + number);
      long day = LocalDate.ofYearDay(YEAR, 1 + number++ % days).toEpochDay();
      StoreResult result =
          dataset.store("orders", day * 86_400_000L, id, new byte[1_000], () -> {});
      double millis = (System.nanoTime() - requests.lastObject()) / 1e6;
      if (!(result instanceof StoreResult.Listed)) {
        throw new IllegalStateException(result.toString());
      }
      return millis;
    }

    /** The number of manifests, as long as none were merged. */
    int manifests() {
      return days + number;
    }

    int files() {
      return files + number;
    }

    int rootSize() {
      return client
          .getObjectAsBytes(get -> get.bucket(S3.BUCKET).key(prefix + ROOT))
          .asByteArrayUnsafe()
          .length;
    }
  }
}
