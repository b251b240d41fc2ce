package io.firstclaim.processor.service.scenario;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.stack.server.S3Server;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A bucket for a dataset, and what is in it, as anybody may see it. */
final class Lake implements AutoCloseable {
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

  /** The keys of the files that the registry lists. */
  List<String> listed() throws IOException {
    byte[] registry =
        client
            .getObjectAsBytes(get -> get.bucket(bucket).key("metastore/dataset_registry.json"))
            .asByteArray();
    List<String> files = new ArrayList<>();
    for (var partition :
        new ObjectMapper().readTree(registry).required("partitions").properties()) {
      for (var file : partition.getValue().required("sizes").properties()) {
        files.add(partition.getKey() + "/" + file.getKey());
      }
    }
    return files;
  }

  @Override
  public void close() {
    client.close();
    proxy.close();
  }
}
