package io.firstclaim.micronaut.web;

import io.firstclaim.listener.web.KeptAnswer;
import io.firstclaim.listener.web.RequestProblem;
import io.micronaut.core.type.Argument;
import io.micronaut.core.type.MutableHeaders;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.body.MessageBodyWriter;
import io.micronaut.http.codec.CodecException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A response whose body is bytes, and leaves as it is. */
final class WrittenAnswer {
  private WrittenAnswer() {}

  /** Says why the request was not done. */
  static MutableHttpResponse<?> refusal(RequestProblem problem) {
    MutableHttpResponse<?> response =
        of(
            problem.status(),
            HttpStatus.getDefaultReason(problem.status()),
            List.of(new KeptAnswer.Header(HttpHeaders.CONTENT_TYPE, RequestProblem.MEDIA_TYPE)),
            problem.body());
    if (problem.isWorthRepeating()) {
      response.header(HttpHeaders.RETRY_AFTER, Integer.toString(RequestProblem.RETRY_AFTER));
    }
    return response;
  }

  /** A kept answer for a client, which is told that it is not the first to have it. */
  static MutableHttpResponse<?> replay(KeptAnswer answer) {
    byte[] body = answer.body();
    MutableHttpResponse<?> response =
        of(
            answer.status(),
            HttpStatus.getDefaultReason(answer.status()),
            answer.headers(),
            body == null ? new byte[0] : body);
    response.header(KeptAnswer.REPLAYED, "true");
    if (body == null) {
      response.header(KeptAnswer.BODY_OMITTED, "true");
    }
    return response;
  }

  /** A response of these; its length is that of the body. */
  static MutableHttpResponse<?> of(
      int status, String reason, List<KeptAnswer.Header> headers, byte[] body) {
    MutableHttpResponse<byte[]> response = HttpResponse.status(status, reason);
    headers.stream()
        .filter(header -> !header.name().equalsIgnoreCase(HttpHeaders.CONTENT_LENGTH))
        .forEach(header -> response.getHeaders().add(header.name(), header.value()));
    if (body.length > 0) {
      response.body(body);
      response.bodyWriter(new AsItIs());
    }
    return response;
  }

  /**
   * Writes bytes as they are: other writers may make a list of numbers of them, where the content
   * type is that of JSON.
   */
  private static final class AsItIs implements MessageBodyWriter<byte[]> {
    @Override
    public boolean isWriteable(Argument<byte[]> type, @Nullable MediaType media) {
      return type.getType() == byte[].class;
    }

    @Override
    public void writeTo(
        Argument<byte[]> type,
        MediaType media,
        byte[] body,
        MutableHeaders headers,
        OutputStream out) {
      try {
        out.write(body);
      } catch (IOException e) {
        throw new CodecException("cannot write the answer: " + e.getMessage(), e);
      }
    }
  }
}
