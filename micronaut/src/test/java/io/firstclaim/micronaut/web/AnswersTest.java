package io.firstclaim.micronaut.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.framework.WebDesk;
import io.firstclaim.lock.testkit.framework.WebInstance;
import io.firstclaim.micronaut.IdempotencyKey;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.annotation.Nullable;
import io.micronaut.core.type.Argument;
import io.micronaut.core.type.MutableHeaders;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Produces;
import io.micronaut.http.annotation.Status;
import io.micronaut.http.body.TypedMessageBodyWriter;
import io.micronaut.http.codec.CodecException;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.serde.annotation.Serdeable;
import jakarta.inject.Singleton;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first client and those after it get what they would without the annotation. */
class AnswersTest {
  private static final Shop SHOP = new Shop("answers");
  private static EmbeddedServer instance;

  /** What is answered. */
  @Serdeable
  record Receipt(String id, long cents, List<String> lines) {
    static Receipt some() {
      return new Receipt("№ 1", 1995, List.of("a \"b\"", "c"));
    }
  }

  /** Has bytes that are JSON written as a list of numbers, as other mappers do. */
  @Requires(property = "web", value = "answers")
  @Singleton
  @Produces(MediaType.APPLICATION_JSON)
  static class Numbers implements TypedMessageBodyWriter<byte[]> {
    @Override
    public Argument<byte[]> getType() {
      return Argument.of(byte[].class);
    }

    @Override
    public void writeTo(
        Argument<byte[]> type,
        MediaType media,
        byte[] body,
        MutableHeaders headers,
        OutputStream out) {
      try {
        out.write(Arrays.toString(body).getBytes(UTF_8));
      } catch (IOException e) {
        throw new CodecException("cannot write", e);
      }
    }
  }

  @Requires(property = "web", value = "answers")
  @Controller("/plain")
  @Consumes(MediaType.ALL)
  static class Plain {
    @Post("/record")
    Receipt record() {
      return Receipt.some();
    }

    @Post("/list")
    List<Receipt> list() {
      return List.of(Receipt.some(), Receipt.some());
    }

    @Post("/map")
    Map<String, Object> map() {
      return Map.of("receipt", Receipt.some());
    }

    @Post("/object")
    Object object() {
      return Receipt.some();
    }

    @Post("/wrapped")
    HttpResponse<?> wrapped() {
      return HttpResponse.accepted().body(Receipt.some());
    }

    @Post("/optional")
    Optional<Receipt> optional() {
      return Optional.of(Receipt.some());
    }

    @Status(HttpStatus.CREATED)
    @Post("/created")
    Receipt created() {
      return Receipt.some();
    }

    @Post("/text")
    String text() {
      return "{\"großer\":\"Dank\"}";
    }

    @Post("/plain-text")
    @Produces(MediaType.TEXT_PLAIN)
    String plainText() {
      return "großer Dank";
    }

    @Post("/latin-text")
    @Produces("text/plain;charset=ISO-8859-1")
    String latinText() {
      return "grosser Dank";
    }

    @Post("/bytes")
    @Produces(MediaType.APPLICATION_OCTET_STREAM)
    byte[] bytes() {
      return new byte[] {0, 1, -1, 13, 10};
    }

    @Post("/json-bytes")
    HttpResponse<byte[]> jsonBytes() {
      return HttpResponse.ok("{\"a\":1}".getBytes(UTF_8)).contentType(MediaType.APPLICATION_JSON);
    }

    @Post("/number")
    int number() {
      return 42;
    }

    @Post("/nothing")
    void nothing() {}

    @Post("/no-content")
    HttpResponse<?> noContent() {
      return HttpResponse.noContent().header("X-Some", "thing");
    }

    @Post("/status")
    HttpStatus status() {
      return HttpStatus.ACCEPTED;
    }
  }

  @Requires(property = "web", value = "answers")
  @Controller("/kept")
  @Consumes(MediaType.ALL)
  static class Kept {
    private final WebDesk desk;

    Kept(WebDesk desk) {
      this.desk = desk;
    }

    @Post("/record")
    @IdempotencyKey
    Receipt record() {
      return Receipt.some();
    }

    @Post("/list")
    @IdempotencyKey
    List<Receipt> list() {
      return List.of(Receipt.some(), Receipt.some());
    }

    @Post("/map")
    @IdempotencyKey
    Map<String, Object> map() {
      return Map.of("receipt", Receipt.some());
    }

    @Post("/object")
    @IdempotencyKey
    Object object() {
      return Receipt.some();
    }

    @Post("/wrapped")
    @IdempotencyKey
    HttpResponse<?> wrapped() {
      return HttpResponse.accepted().body(Receipt.some());
    }

    @Post("/optional")
    @IdempotencyKey
    Optional<Receipt> optional() {
      return Optional.of(Receipt.some());
    }

    @Status(HttpStatus.CREATED)
    @Post("/created")
    @IdempotencyKey
    Receipt created() {
      return Receipt.some();
    }

    @Post("/text")
    @IdempotencyKey
    String text() {
      return "{\"großer\":\"Dank\"}";
    }

    @Post("/plain-text")
    @Produces(MediaType.TEXT_PLAIN)
    @IdempotencyKey
    String plainText() {
      return "großer Dank";
    }

    @Post("/latin-text")
    @Produces("text/plain;charset=ISO-8859-1")
    @IdempotencyKey
    String latinText() {
      return "grosser Dank";
    }

    @Post("/bytes")
    @Produces(MediaType.APPLICATION_OCTET_STREAM)
    @IdempotencyKey
    byte[] bytes() {
      return new byte[] {0, 1, -1, 13, 10};
    }

    @Post("/json-bytes")
    @IdempotencyKey
    HttpResponse<byte[]> jsonBytes() {
      return HttpResponse.ok("{\"a\":1}".getBytes(UTF_8)).contentType(MediaType.APPLICATION_JSON);
    }

    @Post("/number")
    @IdempotencyKey
    int number() {
      return 42;
    }

    @Post("/nothing")
    @IdempotencyKey
    void nothing() {
      int _ = desk.call("nothing");
    }

    @Post("/no-content")
    @IdempotencyKey
    HttpResponse<?> noContent() {
      return HttpResponse.noContent().header("X-Some", "thing");
    }

    @Post("/status")
    @IdempotencyKey
    HttpStatus status() {
      return HttpStatus.ACCEPTED;
    }

    @Post("/missing")
    @IdempotencyKey
    @Nullable
    Receipt missing() {
      return desk.call("missing") == 1 ? null : Receipt.some();
    }

    @Post("/stream")
    @IdempotencyKey
    HttpResponse<?> stream() {
      int _ = desk.call("stream");
      return HttpResponse.ok(new ByteArrayInputStream(new byte[1]));
    }
  }

  @BeforeAll
  static void start() {
    instance = SHOP.open("one");
  }

  @AfterAll
  static void stop() {
    SHOP.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "record",
        "list",
        "map",
        "object",
        "wrapped",
        "optional",
        "created",
        "text",
        "plain-text",
        "latin-text",
        "bytes",
        "json-bytes",
        "number",
        "nothing",
        "no-content",
        "status"
      })
  void answer_isWhatItIsWithoutTheAnnotation_atFirstAndReplayed(String kind) throws Exception {
    var plain = Shop.post(instance, "/plain/" + kind, null, "x");
    var first = Shop.post(instance, "/kept/" + kind, kind, "x");
    var again = Shop.post(instance, "/kept/" + kind, kind, "x");

    assertThat(plain.statusCode()).isBetween(200, 299);
    assertThat(WebInstance.isReplayed(first)).isFalse();
    assertThat(WebInstance.isReplayed(again)).isTrue();
    for (var answer : List.of(first, again)) {
      assertThat(answer.statusCode()).isEqualTo(plain.statusCode());
      assertThat(answer.body()).isEqualTo(plain.body());
      for (String header : List.of("Content-Type", "Content-Length", "X-Some")) {
        assertThat(answer.headers().allValues(header))
            .as(header)
            .isEqualTo(plain.headers().allValues(header));
      }
    }
  }

  @Test
  void answerThatIsMissing_isNotFound_andNotStored() throws Exception {
    assertThat(Shop.post(instance, "/kept/missing", "m", "x").statusCode()).isEqualTo(404);
    assertThat(Shop.post(instance, "/kept/missing", "m", "x").statusCode()).isEqualTo(200);
    assertThat(WebInstance.isReplayed(Shop.post(instance, "/kept/missing", "m", "x"))).isTrue();
  }

  @Test
  void answerThatIsFoundToBeWrittenLater_fails_andIsNotStored() throws Exception {
    for (int i = 1; i <= 2; i++) {
      var answer = Shop.post(instance, "/kept/stream", "s", "x");
      assertThat(answer.statusCode()).isEqualTo(500);
      assertThat(WebInstance.isReplayed(answer)).isFalse();
      assertThat(SHOP.desk().calls("stream")).isEqualTo(i);
    }
  }
}
