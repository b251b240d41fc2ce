package io.firstclaim.processor.service.store;

import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.s3.BucketPolicy;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.processor.service.config.ProtectedBucket;
import java.util.List;
import java.util.function.Function;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * The policies that the service's buckets should have. Where there are any, what is asked of them
 * throws a {@link io.firstclaim.processor.engine.setting.WrongSettingException} if the AWS SDK
 * lacks one of its settings.
 *
 * @param buckets may be none
 */
public record BucketPolicies(List<ProtectedBucket> buckets) {
  /** All of each policy, in JSON. */
  public List<String> texts() {
    return ofEach(BucketPolicy::text);
  }

  /**
   * Tries on scratch objects what they deny.
   *
   * @return what was answered to each try, which is kept if that was denied
   * @throws io.firstclaim.lock.StoreUnavailableException if S3 does not answer
   */
  public List<ConformanceResult> denials() {
    return ofEach(BucketPolicy::denials).stream().flatMap(List::stream).toList();
  }

  private <T> List<T> ofEach(Function<BucketPolicy, T> asked) {
    if (buckets.isEmpty()) {
      return List.of();
    }
    try (S3Client client =
        AwsClients.S3.client(S3Bucket.configure(S3Client.builder(), TimeLimits.DOCUMENT))) {
      return AwsClients.S3.ask(
          client.serviceClientConfiguration().region(),
          () ->
              buckets.stream()
                  .map(of -> asked.apply(new BucketPolicy(client, of.name(), of.prefixes())))
                  .toList());
    }
  }
}
