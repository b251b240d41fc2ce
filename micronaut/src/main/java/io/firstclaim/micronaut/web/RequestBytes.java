package io.firstclaim.micronaut.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Fingerprint;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.ServerHttpRequest;
import io.micronaut.http.body.ByteBody;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A request's body, which is left to its handler as it came. */
final class RequestBytes {
  private static final String FORM = "application/x-www-form-urlencoded";

  private RequestBytes() {}

  /** A body that has more bytes than are taken. */
  static final class TooLargeException extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooLargeException() {
      super("the body is too large", null, false, false);
    }
  }

  /** Reads it; fails with {@link TooLargeException} as soon as it is found to have more bytes. */
  static Mono<byte[]> read(HttpRequest<?> request, int most) {
    if (!(request instanceof ServerHttpRequest<?> sent)) {
      return Mono.error(
          new IllegalStateException(
              "the bytes of the request are not to be had: let the server be Micronaut's own on"
                  + " Netty, and no filter put another request in its place"));
    }
    return Mono.defer(
        () -> {
          if (sent.byteBody().expectedLength().orElse(0) > most) {
            return Mono.error(new TooLargeException());
          }
          // The handler's copy waits in memory, no further than this one is read.
          return Flux.from(
                  sent.byteBody()
                      .split(ByteBody.SplitBackpressureMode.FASTEST)
                      .toByteArrayPublisher())
              .collect(ByteArrayOutputStream::new, (read, part) -> add(part, read, most))
              .map(ByteArrayOutputStream::toByteArray);
        });
  }

  private static void add(byte[] part, ByteArrayOutputStream read, int most) {
    if (part.length > most - read.size()) {
      throw new TooLargeException();
    }
    read.writeBytes(part);
  }

  /** What tells a request from another of the same key. A form's parameters may change places. */
  static Fingerprint fingerprint(HttpRequest<?> request, byte[] body) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(
        (request.getUri().getRawPath() + "?" + request.getUri().getRawQuery() + "\n")
            .getBytes(UTF_8));
    all.writeBytes(isType(request, FORM) ? sorted(body) : body);
    return Fingerprint.of(all.toByteArray());
  }

  /** The parameters of a form, by their names: the values of one name keep their order. */
  private static byte[] sorted(byte[] form) {
    return Arrays.stream(new String(form, ISO_8859_1).split("&"))
        .sorted(Comparator.comparing((String parameter) -> parameter.split("=", 2)[0]))
        .collect(Collectors.joining("&"))
        .getBytes(ISO_8859_1);
  }

  /** Whether its content type begins so. */
  static boolean isType(HttpRequest<?> request, String type) {
    String sent = request.getHeaders().get("Content-Type");
    return sent != null && sent.toLowerCase(Locale.ROOT).startsWith(type);
  }
}
