package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.testkit.ConnectionContract;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;

class S3ConnectionTest extends ConnectionContract {
  private final FaultProxy proxy = FaultProxy.start(LocalS3.endpoint());
  private final S3Client client =
      S3Bucket.configure(
              LocalS3.intercepted(
                  LocalS3.timed(
                      LocalS3.builder(proxy.endpoint())
                          .httpClientBuilder(Apache5HttpClient.builder().maxConnections(1))),
                  faults),
              SETTINGS)
          .build();

  @AfterEach
  void close() {
    client.close();
  }

  @Override
  protected FaultProxy proxy() {
    return proxy;
  }

  @Override
  protected ClaimStore claims() {
    return LocalS3.store(client, SETTINGS, time, time);
  }

  @Override
  protected DocumentStore documents() {
    return new S3DocumentStore(client, LocalS3.BUCKET);
  }

  @Override
  protected void askPatiently() {
    client.listBuckets(
        list ->
            list.overrideConfiguration(
                limit ->
                    limit
                        .apiCallTimeout(Duration.ofMinutes(1))
                        .apiCallAttemptTimeout(Duration.ofMinutes(1))));
  }
}
