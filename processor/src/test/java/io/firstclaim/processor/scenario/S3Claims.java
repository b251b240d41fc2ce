package io.firstclaim.processor.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/** The objects of a bucket of claims, as S3 has them. */
final class S3Claims implements Claims {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String bucket;
  private final S3Client client =
      S3Client.builder()
          .endpointOverride(Servers.S3.endpoint())
          .forcePathStyle(true)
          .region(Region.EU_CENTRAL_1)
          .credentialsProvider(
              StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")))
          .httpClientBuilder(Apache5HttpClient.builder())
          .build();

  S3Claims(String bucket) {
    this.bucket = bucket;
  }

  @Override
  public List<Claim> all() {
    return client
        .listObjectsV2Paginator(list -> list.bucket(bucket).prefix("claims/"))
        .contents()
        .stream()
        .map(S3Object::key)
        .filter(key -> !key.startsWith("claims/self-test/"))
        .map(this::claim)
        .filter(claim -> !claim.id().startsWith(Scenario.WARM_UP))
        .toList();
  }

  private Claim claim(String key) {
    byte[] marker = client.getObjectAsBytes(get -> get.bucket(bucket).key(key)).asByteArray();
    try {
      JsonNode json = JSON.readTree(marker);
      return new Claim(
          new String(json.required("id").binaryValue(), UTF_8),
          json.required("state").textValue(),
          json.required("token").longValue(),
          json.required("attempts").intValue(),
          json.path("holder").asText());
    } catch (IOException e) {
      throw new UncheckedIOException(key + " is no marker", e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
