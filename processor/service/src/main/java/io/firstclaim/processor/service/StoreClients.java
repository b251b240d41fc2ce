package io.firstclaim.processor.service;

import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.WrongSettingException;
import java.util.function.Supplier;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/**
 * The clients of lock stores and datasets, of which region, credentials and endpoint are the AWS
 * SDK's own settings. Each throws {@link WrongSettingException} if one of those is missing.
 */
final class StoreClients {
  /** Connections to one store: for all that pass the gate, and for renewals. */
  private static final int CONNECTIONS = 300;

  private StoreClients() {}

  static DynamoDbClient dynamoDb(ServiceSettings.Claiming claim) {
    return client(
        "AWS_ENDPOINT_URL_DYNAMODB",
        () ->
            DynamoDbTable.configure(DynamoDbClient.builder(), claim.store())
                .httpClientBuilder(Apache5HttpClient.builder().maxConnections(CONNECTIONS))
                .build());
  }

  static S3Client s3(ServiceSettings.Claiming claim) {
    return s3(S3Bucket.configure(S3Client.builder(), claim.store()));
  }

  static S3Client s3(S3ClientBuilder builder) {
    return client(
        "AWS_ENDPOINT_URL_S3",
        () ->
            builder
                .httpClientBuilder(Apache5HttpClient.builder().maxConnections(CONNECTIONS))
                .build());
  }

  private static <C> C client(String endpoint, Supplier<C> builder) {
    try {
      return builder.get();
    } catch (SdkException e) {
      throw new WrongSettingException(
          "AWS settings",
          null,
          "%s; set AWS_REGION, and %s for another endpoint".formatted(e.getMessage(), endpoint));
    }
  }
}
