package io.firstclaim.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.spring.IdempotencyKey;
import io.firstclaim.spring.autoconfigure.FirstclaimAutoConfiguration;
import io.firstclaim.spring.autoconfigure.StartRefusedException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

class WebRefusalsTest {
  private final WebApplicationContextRunner application =
      new WebApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  WebMvcAutoConfiguration.class,
                  FirstclaimAutoConfiguration.class,
                  FirstclaimWebAutoConfiguration.class))
          .withPropertyValues("firstclaim.claim.backend=memory");

  private void refused(Class<?> controller, String fault, String remedy) {
    application
        .withBean(controller)
        .run(context -> assertRefused(context.getStartupFailure(), fault, remedy));
  }

  private static void assertRefused(@Nullable Throwable failure, String fault, String remedy) {
    StartRefusedException refusal = null;
    for (@Nullable Throwable each = failure; each != null; each = each.getCause()) {
      refusal = each instanceof StartRefusedException found ? found : refusal;
    }
    assertThat(refusal).isNotNull().hasMessageContaining(fault);
    assertThat(Objects.requireNonNull(refusal).remedy()).contains(remedy);
  }

  @RestController
  static class Plain {
    @PostMapping("/payments")
    @IdempotencyKey
    String pay() {
      return "paid";
    }
  }

  @Test
  void plainHandler_isKept() {
    application.withBean(Plain.class).run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void applicationWithoutServlets_starts() {
    new ApplicationContextRunner()
        .withClassLoader(new FilteredClassLoader("jakarta.servlet", "org.springframework.web"))
        .withConfiguration(
            AutoConfigurations.of(
                FirstclaimAutoConfiguration.class, FirstclaimWebAutoConfiguration.class))
        .withPropertyValues("firstclaim.claim.backend=memory")
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void handlerOfAReactiveApplication_isRefused() {
    new ReactiveWebApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                FirstclaimAutoConfiguration.class, FirstclaimWebAutoConfiguration.class))
        .withPropertyValues("firstclaim.claim.backend=memory")
        .withBean(Plain.class)
        .run(context -> assertRefused(context.getStartupFailure(), "a reactive one", "Spring MVC"));
  }

  static class NoController {
    @PostMapping("/payments")
    @IdempotencyKey
    String pay() {
      return "paid";
    }
  }

  @Test
  void methodThatIsNoHandler_isRefused() {
    refused(NoController.class, "it is no handler", "@RestController");
  }

  @RestController
  static class Getting {
    @GetMapping("/payments")
    @IdempotencyKey
    String get() {
      return "paid";
    }
  }

  @RestController
  static class Any {
    @RequestMapping("/payments")
    @IdempotencyKey
    String any() {
      return "paid";
    }
  }

  @Test
  void safeMethods_areRefused() {
    refused(Getting.class, "GET", "name its methods");
    refused(Any.class, "any method", "name its methods");
  }

  @RestController
  static class Later {
    @PostMapping("/payments")
    @IdempotencyKey
    CompletableFuture<String> pay() {
      return CompletableFuture.completedFuture("paid");
    }
  }

  @RestController
  static class Streaming {
    @PostMapping("/payments")
    @IdempotencyKey
    ResponseEntity<StreamingResponseBody> pay() {
      return ResponseEntity.ok(out -> {});
    }
  }

  @Test
  void handlersThatAnswerLater_areRefused() {
    refused(Later.class, "after it has returned", "the answer itself");
    refused(Streaming.class, "after it has returned", "the answer itself");
  }

  @Test
  void limitsThatNoStoreHas_areRefused() {
    application
        .withPropertyValues("firstclaim.web.max-answer=1MB")
        .run(
            context ->
                assertRefused(
                    context.getStartupFailure(), "firstclaim.web.max-answer", "1KB to 350KB"));
    application
        .withPropertyValues("firstclaim.web.max-request=0B")
        .run(
            context ->
                assertRefused(context.getStartupFailure(), "firstclaim.web.max-request", "1B"));
  }
}
