package io.firstclaim.processor.service.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.s3.S3DocumentStore;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.dataset.Verification;
import io.firstclaim.processor.dataset.Verification.Discrepancy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * A bucket for a dataset, and what is in it, as anybody may see it. With the system property {@code
 * s3.endpoint} it is on that server, if it takes the access key and secret {@code test}.
 */
final class Lake implements AutoCloseable {
  static final String ROOT = "metastore/dataset_registry.json";

  private static final String KEY = "test";
  private static final URI SERVER =
      Optional.ofNullable(System.getProperty("s3.endpoint"))
          .map(URI::create)
          .orElseGet(Servers.S3::endpoint);

  private final String bucket = "lake-" + Nonce.random();
  private final FaultProxy proxy = FaultProxy.start(SERVER);
  private final S3Client client =
      Dataset.configure(S3Client.builder())
          .endpointOverride(SERVER)
          .region(Region.US_EAST_1)
          .credentialsProvider(
              StaticCredentialsProvider.create(AwsBasicCredentials.create(KEY, KEY)))
          .httpClientBuilder(Apache5HttpClient.builder())
          .build();

  Lake() {
    client.createBucket(create -> create.bucket(bucket));
  }

  /** The address of the S3 server. */
  URI endpoint() {
    return SERVER;
  }

  /** The proxy between an instance and the server. */
  FaultProxy proxy() {
    return proxy;
  }

  String bucket() {
    return bucket;
  }

  S3Client client() {
    return client;
  }

  /** Has an instance write this dataset. */
  Zone writtenBy(Zone zone) {
    return writtenBy(zone, SERVER);
  }

  /** The same, behind {@link #proxy()} or not. */
  Zone writtenBy(Zone zone, URI through) {
    return zone.set("FIRSTCLAIM_HANDLER_TYPE", "dataset")
        .set("FIRSTCLAIM_HANDLER_DATASET_BUCKET", bucket)
        .set("AWS_ENDPOINT_URL_S3", through.toString())
        .set("AWS_REGION", Region.US_EAST_1.id())
        .set("AWS_ACCESS_KEY_ID", KEY)
        .set("AWS_SECRET_ACCESS_KEY", KEY);
  }

  /**
   * Makes a registry as 0.1.0 leaves it, and its files, over twenty days.
   *
   * @return the keys of the files
   */
  List<String> beginAsVersionOne(int count) throws Exception {
    Map<String, List<String>> sizes = new TreeMap<>();
    List<String> paths = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String partition = "datasets/earlier/year=2026/month=07/day=%02d".formatted(i % 20 + 1);
      String name = "%064x".formatted(0x100000000L * i);
      sizes.computeIfAbsent(partition, _ -> new ArrayList<>()).add("\"%s\":1".formatted(name));
      paths.add(partition + "/" + name);
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(16)) {
      List<Future<?>> writes = new ArrayList<>();
      for (String path : paths) {
        writes.add(
            threads.submit(
                () ->
                    client.putObject(
                        put -> put.bucket(bucket).key(path), RequestBody.fromString("x"))));
      }
      for (Future<?> write : writes) {
        write.get();
      }
    }
    List<String> partitions = new ArrayList<>();
    sizes.forEach(
        (partition, files) ->
            partitions.add(
                "\"%s\":{\"files\":%d,\"bytes\":%d,\"sizes\":{%s}}"
                    .formatted(partition, files.size(), files.size(), String.join(",", files))));
    String text =
        "{\"updatedAt\":\"2026-07-04T12:00:00Z\",\"files\":%d,\"bytes\":%d,\"partitions\":{%s}}"
            .formatted(count, count, String.join(",", partitions));
    new SharedDocuments(new S3DocumentStore(client, bucket), TimeSource.system())
        .update(DocumentKey.of(ROOT), Duration.ZERO, _ -> text);
    return paths;
  }

  /** What is wrong with the dataset, which nobody writes now. */
  List<Discrepancy> findings() throws InterruptedException {
    List<Discrepancy> findings = new ArrayList<>();
    new Verification(client, bucket, "", Duration.ZERO, TimeSource.system()).run(findings::add);
    return findings;
  }

  /** The keys of all files of the dataset. */
  List<String> files() {
    return client
        .listObjectsV2Paginator(list -> list.bucket(bucket).prefix("datasets/"))
        .contents()
        .stream()
        .map(S3Object::key)
        .toList();
  }

  /** The object that says what is listed. */
  byte[] root() {
    return client.getObjectAsBytes(get -> get.bucket(bucket).key(ROOT)).asByteArray();
  }

  /** Writes it as anybody may, without a condition. */
  void writeRoot(byte[] body) {
    write(ROOT, body);
  }

  /** Writes any object, without a condition. */
  void write(String key, byte[] body) {
    client.putObject(put -> put.bucket(bucket).key(key), RequestBody.fromBytes(body));
  }

  /** Deletes any object. */
  void delete(String key) {
    client.deleteObject(delete -> delete.bucket(bucket).key(key));
  }

  /** The keys of the files that the manifests list which the root names, each as often. */
  List<String> listed() throws IOException {
    List<String> files = new ArrayList<>();
    for (String manifest : manifestsNamed()) {
      String path =
          manifest
              .substring(0, manifest.lastIndexOf('/'))
              .replaceFirst("metastore/manifests/", "datasets/");
      client
          .getObjectAsBytes(get -> get.bucket(bucket).key(manifest))
          .asUtf8String()
          .lines()
          .skip(1)
          .map(Lake::nameIn)
          .forEach(name -> files.add(path + "/" + name));
    }
    return files;
  }

  /** The keys of the manifests that the root names. */
  List<String> manifestsNamed() throws IOException {
    List<String> named = new ArrayList<>();
    for (JsonNode partition : new ObjectMapper().readTree(root()).required("partitions")) {
      String path = partition.required("partition").asText();
      for (JsonNode manifest : partition.required("manifests")) {
        named.add(
            path.replaceFirst("datasets/", "metastore/manifests/")
                + "/"
                + manifest.required("name").asText()
                + ".jsonl");
      }
    }
    return named;
  }

  /** The keys of all manifests, whether the root names them or not. */
  List<String> manifests() {
    return client
        .listObjectsV2Paginator(list -> list.bucket(bucket).prefix("metastore/manifests/"))
        .contents()
        .stream()
        .map(S3Object::key)
        .toList();
  }

  private static String nameIn(String line) {
    try {
      return new ObjectMapper().readTree(line).required("name").asText();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    client.close();
    proxy.close();
  }
}
