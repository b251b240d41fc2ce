package io.firstclaim.lock.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.aws.TranslatedFaults;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.NoSuchBucketException;

class TranslatedFaultsTest {
  private static final NullPointerException FAULT = new NullPointerException("Connection");

  private final Fails fails = new Fails();
  private final S3Client raw =
      LocalS3.intercepted(LocalS3.builder(LocalS3.endpoint()), fails).build();
  private final S3Client client = TranslatedFaults.of(S3Client.class, raw);
  private final Consumer<ListObjectsV2Request.Builder> listing =
      list -> list.bucket(LocalS3.BUCKET);

  private static final class Fails implements ExecutionInterceptor {
    private volatile boolean fails = true;

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes of) {
      if (fails) {
        throw FAULT;
      }
    }
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void sdk_letsThemThrough() {
    assertThatThrownBy(() -> raw.listObjectsV2(listing)).isSameAs(FAULT);
  }

  @Test
  void faultOfTheHttpClient_isTheSdks_alsoOfPagesThatAreAskedForLater() {
    assertThatThrownBy(() -> client.listObjectsV2(listing))
        .isInstanceOf(SdkClientException.class)
        .hasMessageContaining("the SDK failed")
        .hasMessageContaining("NullPointerException: Connection")
        .hasCause(FAULT);
    assertThatThrownBy(() -> client.listObjectsV2Paginator(listing).contents().forEach(_ -> {}))
        .isInstanceOf(SdkClientException.class)
        .hasCause(FAULT);
  }

  @Test
  void faultOfTheSdk_staysWhatItIs() {
    fails.fails = false;

    assertThatThrownBy(() -> client.listObjectsV2(list -> list.bucket("no-such-" + Nonce.random())))
        .isInstanceOf(NoSuchBucketException.class);
  }

  @Test
  void closedClient_isNoFaultThatARepetitionMends() {
    fails.fails = false;
    client.close();

    assertThatThrownBy(() -> client.listObjectsV2(listing))
        .isExactlyInstanceOf(IllegalStateException.class);
  }

  @Test
  void translatedClient_isNotTranslatedAgain() {
    assertThat(TranslatedFaults.of(S3Client.class, client)).isSameAs(client);
  }
}
