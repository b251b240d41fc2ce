package io.firstclaim.processor.service.scenario;

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
        .map(this::marker)
        .filter(marker -> marker.required("namespace").textValue().equals("firstclaim"))
        .map(S3Claims::claim)
        .filter(claim -> !claim.id().startsWith(Scenario.WARM_UP))
        .toList();
  }

  private JsonNode marker(String key) {
    try {
      return JSON.readTree(
          client.getObjectAsBytes(get -> get.bucket(bucket).key(key)).asByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(key + " is no marker", e);
    }
  }

  private static Claim claim(JsonNode marker) {
    try {
      return new Claim(
          new String(marker.required("id").binaryValue(), UTF_8),
          marker.required("state").textValue(),
          marker.required("token").longValue(),
          marker.required("attempts").intValue(),
          marker.path("holder").asText());
    } catch (IOException e) {
      throw new UncheckedIOException(marker + " has no ID", e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
