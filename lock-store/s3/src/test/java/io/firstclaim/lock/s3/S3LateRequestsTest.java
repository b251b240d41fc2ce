package io.firstclaim.lock.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.aws.LateRequestContract;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.function.Predicate;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

class S3LateRequestsTest extends LateRequestContract {
  @Override
  protected URI endpoint() {
    return LocalS3.endpoint();
  }

  @Override
  protected ClaimStore store(
      URI endpoint, ExecutionInterceptor interceptor, ClaimSettings settings, TimeSource machine) {
    var client =
        opened(
            LocalS3.unhurried(
                    LocalS3.notRetrying(
                        LocalS3.timed(
                            LocalS3.intercepted(
                                S3Bucket.configure(LocalS3.builder(endpoint), settings),
                                interceptor))))
                .build());
    return LocalS3.store(client, settings, machine, time);
  }

  @Override
  protected Predicate<Request> takeover() {
    return Match.header("If-Match");
  }

  @Override
  protected boolean took(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(answer.body()).isIn(200, 412);
    return answer.statusCode() == 200;
  }

  @Override
  protected Duration tick() {
    return Duration.ofSeconds(1);
  }
}
