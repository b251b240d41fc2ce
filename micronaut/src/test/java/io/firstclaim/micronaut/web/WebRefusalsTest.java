package io.firstclaim.micronaut.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.micronaut.IdempotencyKey;
import io.firstclaim.micronaut.Starts;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.io.Writable;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.CustomHttpMethod;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.server.types.files.StreamedFile;
import io.micronaut.scheduling.annotation.Async;
import io.micronaut.views.ModelAndView;
import io.micronaut.views.View;
import jakarta.inject.Singleton;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class WebRefusalsTest {
  private static Map<String, Object> with(String controller) {
    return Map.of("web", controller, "kafka.enabled", false);
  }

  private static void refused(String controller, String fault, String remedy, String... settings) {
    Starts.assertRefused(with(controller), fault, remedy, settings);
  }

  @Requires(property = "web", value = "plain")
  @Controller
  static class Plain {
    @Post("/payments")
    @IdempotencyKey
    String pay() {
      return "paid";
    }

    @Post("/receipts")
    @IdempotencyKey
    HttpResponse<List<String>> receipts() {
      return HttpResponse.ok(List.of());
    }
  }

  @Test
  void plainHandlers_areKept() {
    assertThat(Starts.thrown(with("plain"))).isNull();
  }

  @Requires(property = "web", value = "no-controller")
  @Singleton
  static class NoController {
    @Post("/payments")
    @IdempotencyKey
    String pay() {
      return "paid";
    }
  }

  @Requires(property = "web", value = "no-handler")
  @Controller
  static class NoHandler {
    @IdempotencyKey
    String pay() {
      return "paid";
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"no-controller", "no-handler"})
  void methodThatIsNoHandler_isRefused(String controller) {
    refused(controller, "it is no handler", "of a @Controller");
  }

  @Requires(property = "web", value = "get")
  @Controller
  static class Getting {
    @Get("/payments")
    @IdempotencyKey
    String get() {
      return "paid";
    }
  }

  @Requires(property = "web", value = "both")
  @Controller
  static class Both {
    @Get("/payments")
    @Post("/payments")
    @IdempotencyKey
    String both() {
      return "paid";
    }
  }

  @Requires(property = "web", value = "custom")
  @Controller
  static class Custom {
    @CustomHttpMethod(method = "HEAD", value = "/payments")
    @IdempotencyKey
    String head() {
      return "paid";
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"get", "both", "custom"})
  void safeMethods_areRefused(String controller) {
    refused(controller, "GET or other methods", "@Post, @Put");
  }

  @Requires(property = "web", value = "future")
  @Controller
  static class Later {
    @Post("/payments")
    @IdempotencyKey
    CompletableFuture<String> pay() {
      return CompletableFuture.completedFuture("paid");
    }
  }

  @Requires(property = "web", value = "mono")
  @Controller
  static class Single {
    @Post("/payments")
    @IdempotencyKey
    Mono<String> pay() {
      return Mono.just("paid");
    }
  }

  @Requires(property = "web", value = "publisher")
  @Controller
  static class Publishing {
    @Post("/payments")
    @IdempotencyKey
    Publisher<String> pay() {
      return Mono.just("paid");
    }
  }

  @Requires(property = "web", value = "flux-inside")
  @Controller
  static class Streaming {
    @Post("/payments")
    @IdempotencyKey
    HttpResponse<Flux<String>> pay() {
      return HttpResponse.ok(Flux.just("paid"));
    }
  }

  @Requires(property = "web", value = "file")
  @Controller
  static class File {
    @Post("/payments")
    @IdempotencyKey
    HttpResponse<StreamedFile> pay() {
      return HttpResponse.ok();
    }
  }

  @Requires(property = "web", value = "stream")
  @Controller
  static class Bytes {
    @Post("/payments")
    @IdempotencyKey
    InputStream pay() {
      return InputStream.nullInputStream();
    }
  }

  @Requires(property = "web", value = "java-stream")
  @Controller
  static class Elements {
    @Post("/payments")
    @IdempotencyKey
    Stream<String> pay() {
      return Stream.of("paid");
    }
  }

  @Requires(property = "web", value = "writable")
  @Controller
  static class Written {
    @Post("/payments")
    @IdempotencyKey
    Writable pay() {
      return out -> out.write("paid");
    }
  }

  @Requires(property = "web", value = "async")
  @Controller
  static class Elsewhere {
    @Async
    @Post("/payments")
    @IdempotencyKey
    void pay() {}
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "future",
        "mono",
        "publisher",
        "flux-inside",
        "file",
        "stream",
        "java-stream",
        "writable",
        "async"
      })
  void handlersThatAnswerLater_areRefused(String controller) {
    refused(controller, "after it has returned", "the answer itself");
  }

  @Requires(property = "web", value = "view")
  @Controller
  static class Rendered {
    @Post("/payments")
    @View("paid")
    @IdempotencyKey
    Map<String, String> pay() {
      return Map.of();
    }
  }

  @Requires(property = "web", value = "model-and-view")
  @Controller
  static class Modelled {
    @Post("/payments")
    @IdempotencyKey
    ModelAndView<String> pay() {
      return new ModelAndView<>("paid", "model");
    }
  }

  @Test
  void handlersWhoseAnswersAreRenderedOutside_areRefused() {
    refused("view", "rendered outside of what is stored", "render it in the handler");
    refused("model-and-view", "after it has returned", "the answer itself");
  }

  @Test
  void limitsThatNoStoreHas_areRefused() {
    refused(
        "none",
        "firstclaim.web.max-answer is 1048576",
        "1KB to 350KB",
        "firstclaim.web.max-answer",
        "1MB");
    refused(
        "none", "firstclaim.web.max-answer is 1023", "1KB", "firstclaim.web.max-answer", "1023");
    refused("none", "firstclaim.web.max-request is 0", "2047MB", "firstclaim.web.max-request", "0");
    refused("none", "firstclaim.web.max-request is", "2047MB", "firstclaim.web.max-request", "2GB");
    refused(
        "none", "firstclaim.web.max-anser", "docs/micronaut.md", "firstclaim.web.max-anser", "1KB");
  }
}
