package io.firstclaim.processor.service.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.stack.server.S3Server;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A bucket for a dataset, and what is in it, as anybody may see it. */
final class Lake implements AutoCloseable {
  static final String ROOT = "metastore/dataset_registry.json";

  private static final S3Server SERVER = Servers.S3;

  private final String bucket = "lake-" + Nonce.random();
  private final FaultProxy proxy = FaultProxy.start(SERVER.endpoint());
  private final S3Client client =
      Dataset.configure(S3Client.builder())
          .endpointOverride(SERVER.endpoint())
          .region(Region.EU_CENTRAL_1)
          .credentialsProvider(
              StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
          .httpClientBuilder(Apache5HttpClient.builder())
          .build();

  Lake() {
    SERVER.createBucket(bucket);
  }

  /** The server's. */
  URI endpoint() {
    return SERVER.endpoint();
  }

  /** Between an instance and the server. */
  FaultProxy proxy() {
    return proxy;
  }

  String bucket() {
    return bucket;
  }

  S3Client client() {
    return client;
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
    client.putObject(put -> put.bucket(bucket).key(ROOT), RequestBody.fromBytes(body));
  }

  /** The keys of the files that the manifests list which the root names, each as often. */
  List<String> listed() throws IOException {
    ObjectMapper json = new ObjectMapper();
    List<String> files = new ArrayList<>();
    for (JsonNode partition : json.readTree(root()).required("partitions")) {
      String path = partition.required("partition").asText();
      for (JsonNode manifest : partition.required("manifests")) {
        String key =
            path.replaceFirst("datasets/", "metastore/manifests/")
                + "/"
                + manifest.required("name").asText()
                + ".jsonl";
        client
            .getObjectAsBytes(get -> get.bucket(bucket).key(key))
            .asUtf8String()
            .lines()
            .skip(1)
            .map(Lake::nameIn)
            .forEach(name -> files.add(path + "/" + name));
      }
    }
    return files;
  }

  /** How many manifests the root names. */
  int manifestsNamed() throws IOException {
    int named = 0;
    for (JsonNode partition : new ObjectMapper().readTree(root()).required("partitions")) {
      named += partition.required("manifests").size();
    }
    return named;
  }

  /** How many manifests there are. */
  int manifestsThere() {
    return (int)
        client
            .listObjectsV2Paginator(list -> list.bucket(bucket).prefix("metastore/manifests/"))
            .contents()
            .stream()
            .count();
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
