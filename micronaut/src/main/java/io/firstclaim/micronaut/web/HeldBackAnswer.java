package io.firstclaim.micronaut.web;

import io.firstclaim.listener.web.KeptAnswer;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.core.io.Writable;
import io.micronaut.core.type.Argument;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.body.MediaTypeProvider;
import io.micronaut.http.body.MessageBodyHandlerRegistry;
import io.micronaut.http.body.MessageBodyWriter;
import io.micronaut.http.server.RouteExecutor;
import io.micronaut.http.server.types.files.FileCustomizableResponseType;
import io.micronaut.web.router.RouteAttributes;
import io.micronaut.web.router.RouteInfo;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;

/**
 * A handler's answer as it goes to the client, kept in memory until it is known whether the client
 * may have it. Immutable.
 */
final class HeldBackAnswer {
  private static final String MODEL_AND_VIEW = "io.micronaut.views.ModelAndView";

  private static final List<Class<?>> LATER =
      List.of(
          Future.class,
          BaseStream.class,
          InputStream.class,
          Writable.class,
          FileCustomizableResponseType.class);

  private final int status;
  private final String reason;
  private final List<KeptAnswer.Header> headers;
  private final byte[] body;

  /**
   * An answer.
   *
   * @param reason the text beside the status
   * @param headers with those of the body
   * @param body empty if it has none
   */
  private HeldBackAnswer(int status, String reason, List<KeptAnswer.Header> headers, byte[] body) {
    this.status = status;
    this.reason = reason;
    this.headers = headers;
    this.body = body;
  }

  /** Whether what is returned or answered with this type is known only later, if at all. */
  static boolean isLater(Argument<?> type) {
    return type.isAsyncOrReactive()
        || isLater(type.getType())
        || type.getFirstTypeVariable().filter(HeldBackAnswer::isLater).isPresent();
  }

  private static boolean isLater(Class<?> type) {
    return LATER.stream().anyMatch(later -> later.isAssignableFrom(type))
        || Publishers.isConvertibleToPublisher(type)
        || type.getName().equals(MODEL_AND_VIEW);
  }

  /** Whether it is to be stored. */
  static boolean isSuccess(MutableHttpResponse<?> response) {
    return response.code() >= 200 && response.code() < 300;
  }

  /** What to keep of the answer, in no more bytes than this. */
  String kept(long most) throws IOException {
    return KeptAnswer.write(status, headers, body, most);
  }

  /** The response that it becomes. */
  MutableHttpResponse<?> passedOn() {
    return WrittenAnswer.of(status, reason, headers, body);
  }

  /** Writes answers as Micronaut does. Thread-safe. */
  static final class Encoder {
    private final RouteExecutor routes;
    private final MessageBodyHandlerRegistry writers;

    Encoder(RouteExecutor routes, MessageBodyHandlerRegistry writers) {
      this.routes = routes;
      this.writers = writers;
    }

    /**
     * Holds a response back, whose body is written here, once.
     *
     * @throws IllegalStateException if it has a body that is written later
     */
    HeldBackAnswer encode(HttpRequest<?> request, MutableHttpResponse<?> response) {
      byte[] body = body(request, response);
      List<KeptAnswer.Header> headers = new ArrayList<>();
      response
          .getHeaders()
          .forEach(
              (name, values) ->
                  values.forEach(value -> headers.add(new KeptAnswer.Header(name, value))));
      return new HeldBackAnswer(response.code(), response.reason(), headers, body);
    }

    private byte[] body(HttpRequest<?> request, MutableHttpResponse<?> response) {
      Object body = response.body();
      if (body == null) {
        return new byte[0];
      }
      if (isLater(body.getClass())) {
        throw new IllegalStateException(
            "a handler with @IdempotencyKey answers before it returns, for its answer is stored"
                + " first: return the answer itself, and not a "
                + body.getClass().getName());
      }
      MediaType media = mediaType(request, response, body);
      response.getHeaders().contentTypeIfMissing(media);
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      write(response, media, body, bytes);
      return bytes.toByteArray();
    }

    private MediaType mediaType(
        HttpRequest<?> request, MutableHttpResponse<?> response, Object body) {
      return response
          .getContentType()
          .orElseGet(
              () ->
                  body instanceof MediaTypeProvider provider
                      ? provider.getMediaType()
                      : RouteAttributes.getRouteInfo(response)
                          .map(route -> routes.resolveDefaultResponseContentType(request, route))
                          .orElse(MediaType.APPLICATION_JSON_TYPE));
    }

    /**
     * Writes the body by the writer of the route, if it is for what was answered, else by that for
     * its class.
     */
    @SuppressWarnings("unchecked") // it is asked of the type whether the body is an instance
    private void write(
        MutableHttpResponse<?> response, MediaType media, Object body, ByteArrayOutputStream out) {
      Argument<Object> type =
          (Argument<Object>)
              RouteAttributes.getRouteInfo(response)
                  .<Argument<?>>map(RouteInfo::getResponseBodyType)
                  .orElseGet(() -> Argument.of(body.getClass()));
      MessageBodyWriter<Object> writer =
          (MessageBodyWriter<Object>) response.getBodyWriter().orElse(null);
      if (writer == null) {
        writer = writers.findWriter(type, List.of(media)).orElse(null);
      }
      if (writer == null || !type.isInstance(body) || !writer.isWriteable(type, media)) {
        type = Argument.ofInstance(body);
        writer = writers.getWriter(type, List.of(media));
      }
      writer.writeTo(type, media, body, response.getHeaders(), out);
    }
  }
}
