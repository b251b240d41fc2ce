package io.firstclaim.lock.s3;

import io.firstclaim.lock.testkit.ManualTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.SdkHttpResponse;

/**
 * Lets the server live in the test's time, cut to the second as S3's is: every object carries when
 * it was sent, which answers show as {@code Last-Modified}, beside the {@code Date} of the test.
 */
final class StoreTime implements ExecutionInterceptor {
  private static final String SENT = "x-amz-meta-sent";

  private volatile ManualTime time = ManualTime.start();

  /** From now on it is this time; so tests that share it run one after the other. */
  void live(ManualTime now) {
    time = now;
  }

  private String date() {
    return DateTimeFormatter.RFC_1123_DATE_TIME.format(time.right().atOffset(ZoneOffset.UTC));
  }

  @Override
  public SdkHttpRequest modifyHttpRequest(
      Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
    SdkHttpRequest request = context.httpRequest();
    return request.method() == SdkHttpMethod.PUT
        ? request.copy(put -> put.putHeader(SENT, date()))
        : request;
  }

  @Override
  public SdkHttpResponse modifyHttpResponse(
      Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
    return context
        .httpResponse()
        .copy(
            response -> {
              response.putHeader("Date", date());
              response
                  .firstMatchingHeader(SENT)
                  .ifPresent(sent -> response.putHeader("Last-Modified", sent));
            });
  }
}
