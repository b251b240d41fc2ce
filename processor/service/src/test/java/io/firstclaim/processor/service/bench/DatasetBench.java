package io.firstclaim.processor.service.bench;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.dataset.StoreResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;

/** What the root of a dataset costs when a million files are listed. */
final class DatasetBench {
  private static final int PARTITIONS = 365;
  private static final int YEAR = 2025;
  private static final int FEW = 10_000;
  private static final int MANY = 1_000_000;
  private static final int UPDATES = 200;
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

  /** One file after the other is written and listed, each with an update of its own. */
  void root() throws InterruptedException {
    try (S3Client client =
        Stack.at(s3.endpoint(), Dataset.configure(S3Client.builder()))
            .httpClientBuilder(Apache5HttpClient.builder().maxConnections(Stack.CONNECTIONS))
            .build()) {
      Lake few = new Lake(client, stack.name("few") + "/", FEW);
      Lake many = new Lake(client, stack.name("many") + "/", MANY);
      few.update();
      many.update(); // the first ones warm up
      double ofFew = few.update();
      double ofMany = many.update();
      table.add(
          "update of the root, 1,000,000 files in 365 partitions",
          "%.1f ms".formatted(ofMany),
          "10,000 files %.1f ms".formatted(ofFew),
          "%.2f ×".formatted(ofMany / ofFew),
          "≤ 1.5 ×",
          ofMany / ofFew <= 1.5);
      table.add(
          "size of that root, with %d manifests not merged yet".formatted(many.number),
          "%,d bytes".formatted(many.rootSize()),
          "",
          "",
          "≤ %,d".formatted(MOST_BYTES),
          many.rootSize() <= MOST_BYTES);
    }
  }

  /** A dataset whose root was written for it. */
  private static final class Lake {
    private final S3Client client;
    private final String prefix;
    private final Dataset dataset;
    private int number;

    Lake(S3Client client, String prefix, int files) {
      this.client = client;
      this.prefix = prefix;
      write(files);
      this.dataset =
          new Dataset(
              client,
              new DatasetSettings(S3.BUCKET, prefix, 8 << 20, Duration.ZERO),
              "bench",
              TimeSource.system());
    }

    private void write(int files) {
      int each = files / PARTITIONS;
      List<String> partitions = new ArrayList<>();
      for (int p = 0; p < PARTITIONS; p++) {
        LocalDate date = LocalDate.ofYearDay(YEAR, p + 1);
        String day =
            "orders/year=%d/month=%02d/day=%02d"
                .formatted(YEAR, date.getMonthValue(), date.getDayOfMonth());
        String name = "%032x".formatted(p);
        String manifest = manifest("datasets/" + day, each);
        client.putObject(
            put ->
                put.bucket(S3.BUCKET)
                    .key(prefix + "metastore/manifests/" + day + "/" + name + ".jsonl"),
            RequestBody.fromString(manifest));
        partitions.add(
            ("{\"partition\": \"datasets/%s\", \"files\": %d, \"bytes\": %d,"
                    + " \"updatedAt\": \"2026-07-04T12:00:00.123456Z\", \"manifests\": [\n"
                    + "{\"name\": \"%s\", \"files\": %d, \"bytes\": %d, \"names\": \"%s\"}]}")
                .formatted(day, each, 1_000L * each, name, each, 1_000L * each, namesOf(each)));
      }
      String root =
          ("{\"schemaVersion\": 2, \"version\": 1, \"updatedAt\": \"2026-07-04T12:00:00Z\","
                  + " \"files\": %d, \"bytes\": %d, \"partitions\": [\n%s]}")
              .formatted(each * PARTITIONS, 0, String.join(",\n", partitions));
      client.putObject(
          put -> put.bucket(S3.BUCKET).key(prefix + ROOT),
          RequestBody.fromBytes(root.getBytes(StandardCharsets.UTF_8)));
    }

    private static String fileName(int number) {
      return HexFormat.of().toHexDigits(0x9E3779B97F4A7C15L * (number + 1)).repeat(4);
    }

    private static String namesOf(int files) {
      long names = 0;
      for (int i = 0; i < files; i++) {
        names ^= 0x9E3779B97F4A7C15L * (i + 1);
      }
      return HexFormat.of().toHexDigits(names);
    }

    private static String manifest(String partition, int files) {
      StringBuilder text = new StringBuilder();
      text.append(
          "{\"schemaVersion\":2,\"partition\":\"%s\",\"files\":%d}".formatted(partition, files));
      for (int i = 0; i < files; i++) {
        text.append("\n{\"name\":\"").append(fileName(i)).append("\",\"bytes\":1000}");
      }
      return text.append('\n').toString();
    }

    /** The median in milliseconds; each in another partition, so that nothing is merged. */
    double update() throws InterruptedException {
      double[] millis = new double[UPDATES];
      for (int i = 0; i < UPDATES; i++) {
        RecordId id = RecordId.of("id-" + number);
        long day = LocalDate.ofYearDay(YEAR, 1 + number++ % PARTITIONS).toEpochDay();
        long begin = System.nanoTime();
        StoreResult result =
            dataset.store("orders", day * 86_400_000L, id, new byte[1_000], () -> {});
        millis[i] = (System.nanoTime() - begin) / 1e6;
        if (!(result instanceof StoreResult.Stored)) {
          throw new IllegalStateException(result.toString());
        }
      }
      Arrays.sort(millis);
      return millis[UPDATES / 2];
    }

    int rootSize() {
      return client
          .getObjectAsBytes(get -> get.bucket(S3.BUCKET).key(prefix + ROOT))
          .asByteArrayUnsafe()
          .length;
    }
  }
}
