package io.firstclaim.spring.web;

import static io.firstclaim.lock.testkit.framework.WebInstance.send;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.framework.WebInstance;
import io.firstclaim.spring.AutoConfigured;
import io.firstclaim.spring.IdempotencyKey;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;
import org.springframework.web.filter.CorsFilter;

/** Pages of several origins that send a key, to an application that says which it lets. */
class CrossOriginTest {
  private static final String LETS = "Access-Control-Allow-Origin";
  private static final String ONE = "https://one.example";
  private static final String OTHER = "https://other.example";

  @RestController
  static class Payments {
    private final AtomicInteger calls;

    Payments(AtomicInteger calls) {
      this.calls = calls;
    }

    @PostMapping("/payments")
    @IdempotencyKey
    @CrossOrigin(
        origins = {ONE, OTHER},
        allowCredentials = "true")
    String pay(@RequestBody String payment) {
      return payment + calls.incrementAndGet();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @AutoConfigured
  @Import(Payments.class)
  static class Application {
    @Bean
    AtomicInteger calls() {
      return new AtomicInteger();
    }

    /** Beside the handler's own annotation. */
    @Bean
    @ConditionalOnProperty("filtered")
    CorsFilter corsFilter() {
      CorsConfiguration configuration = new CorsConfiguration();
      configuration.setAllowedOrigins(List.of(ONE, OTHER));
      configuration.setAllowCredentials(true);
      configuration.addAllowedMethod("POST");
      UrlBasedCorsConfigurationSource source = new UrlBasedCorsConfigurationSource();
      source.registerCorsConfiguration("/**", configuration);
      return new CorsFilter(source);
    }
  }

  private static HttpResponse<String> post(WebInstance one, @Nullable String origin)
      throws Exception {
    HttpRequest.Builder request = one.to("/payments", "k-1").POST(BodyPublishers.ofString("p"));
    return send(origin == null ? request : request.header("Origin", origin));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "filtered=true"})
  void eachAnswer_letsTheOriginOfItsOwnRequest_once(String setting) throws Exception {
    try (ConfigurableApplicationContext application =
        new SpringApplicationBuilder(Application.class)
            .web(WebApplicationType.SERVLET)
            .properties(
                "server.port=0",
                "server.address=127.0.0.1",
                "firstclaim.claim.backend=memory",
                "spring.main.banner-mode=off",
                "logging.level.root=WARN",
                setting)
            .run()) {
      AtomicInteger calls = application.getBean(AtomicInteger.class);
      WebInstance one =
          new WebInstance(
              Objects.requireNonNull(((WebServerApplicationContext) application).getWebServer())
                  .getPort());

      HttpResponse<String> forbidden = post(one, "https://evil.example");
      assertThat(forbidden.statusCode()).isEqualTo(403);
      assertThat(calls).hasValue(0);

      HttpResponse<String> first = post(one, ONE);
      assertThat(first.statusCode()).isEqualTo(200);
      assertThat(first.headers().allValues(LETS)).containsExactly(ONE);
      assertThat(first.headers().allValues("Access-Control-Allow-Credentials"))
          .containsExactly("true");
      assertThat(first.headers().allValues("Vary")).containsOnlyOnce("Origin");

      HttpResponse<String> again = post(one, OTHER);
      assertThat(WebInstance.isReplayed(again)).isTrue();
      assertThat(again.body()).isEqualTo(first.body());
      assertThat(again.headers().allValues(LETS)).containsExactly(OTHER);
      assertThat(again.headers().allValues("Access-Control-Allow-Credentials"))
          .containsExactly("true");
      assertThat(again.headers().allValues("Vary")).containsOnlyOnce("Origin");

      HttpResponse<String> ofNoPage = post(one, null);
      assertThat(WebInstance.isReplayed(ofNoPage)).isTrue();
      assertThat(ofNoPage.headers().allValues(LETS)).isEmpty();
      assertThat(calls).hasValue(1);
    }
  }
}
