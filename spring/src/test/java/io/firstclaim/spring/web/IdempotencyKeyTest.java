package io.firstclaim.spring.web;

import static io.firstclaim.lock.testkit.framework.WebInstance.isReplayed;
import static io.firstclaim.lock.testkit.framework.WebInstance.send;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.lock.testkit.framework.IdempotencyKeyContract;
import io.firstclaim.lock.testkit.framework.WebDesk;
import io.firstclaim.lock.testkit.framework.WebInstance;
import io.firstclaim.spring.AutoConfigured;
import io.firstclaim.spring.IdempotencyKey;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** The contract, and what is Spring's own. */
class IdempotencyKeyTest extends IdempotencyKeyContract {
  private final List<ConfigurableApplicationContext> applications = new ArrayList<>();

  @RestController
  static class Payments {
    private final WebDesk desk;

    Payments(WebDesk desk) {
      this.desk = desk;
    }

    @PostMapping("/payments")
    @IdempotencyKey
    ResponseEntity<String> pay(@RequestBody String payment, HttpServletResponse response) {
      int call = desk.call(payment);
      response.addCookie(new Cookie("session", "secret"));
      response.addHeader("X-Part", "one");
      response.addHeader("X-Part", "two");
      return ResponseEntity.created(URI.create("/payments/" + payment))
          .header("Set-Cookie", "other=secret")
          .body("zahlung №" + call + " of " + payment);
    }

    @PostMapping("/accounts/{account}/payments")
    @IdempotencyKey
    String payTo(@PathVariable String account, @RequestBody(required = false) String payment) {
      return account + desk.call(account + payment);
    }

    @PutMapping("/payments")
    @IdempotencyKey(required = false)
    String put(@RequestBody String payment) {
      return "put " + desk.call(payment);
    }

    @PutMapping("/strict")
    @IdempotencyKey
    String putStrictly(@RequestBody String payment) {
      return "strictly put " + desk.call(payment);
    }

    @PatchMapping("/payments")
    String patch(@RequestBody String payment) {
      return "patched " + desk.call(payment);
    }

    @PostMapping("/forms")
    @IdempotencyKey
    String form(@RequestParam String payment) {
      return payment + desk.call(payment);
    }

    @PostMapping("/forms/bodies")
    @IdempotencyKey
    String formAsBody(@RequestBody MultiValueMap<String, String> form) {
      return form + " " + desk.call(form.toString());
    }

    @PostMapping("/forms/texts")
    @IdempotencyKey
    String formAsText(@RequestBody(required = false) @Nullable String form) {
      return form + " " + desk.call(String.valueOf(form));
    }

    @PostMapping("/forms/streams")
    @IdempotencyKey
    String formAsStream(HttpServletRequest request) throws IOException {
      String form = new String(request.getInputStream().readAllBytes(), UTF_8);
      return form + " " + desk.call(form);
    }

    @PutMapping("/forms")
    @IdempotencyKey
    String putForm(@RequestParam String payment, @RequestParam MultiValueMap<String, String> all) {
      return all + " " + desk.call(payment);
    }

    @PutMapping("/forms/bodies")
    @IdempotencyKey
    String putFormAsBody(@RequestBody MultiValueMap<String, String> form) {
      return form + " " + desk.call(form.toString());
    }

    @PostMapping("/forwarded/{path}")
    void forward(@PathVariable String path, HttpServletRequest request, HttpServletResponse answer)
        throws ServletException, IOException {
      request.getRequestDispatcher("/" + path).forward(request, answer);
    }

    @PutMapping("/forwarded/{path}")
    @IdempotencyKey(required = false)
    void put(@PathVariable String path, HttpServletRequest request, HttpServletResponse answer)
        throws ServletException, IOException {
      request.getRequestDispatcher("/" + path).forward(request, answer);
    }

    @PostMapping("/large")
    @IdempotencyKey
    ResponseEntity<String> large(@RequestBody String payment) {
      return ResponseEntity.created(URI.create("/large/" + desk.call(payment)))
          .body("x".repeat(100_000));
    }

    @PostMapping("/failing/{how}")
    @IdempotencyKey
    @Nullable ResponseEntity<String> fail(
        @PathVariable String how, @RequestBody String payment, HttpServletResponse response)
        throws IOException {
      if (desk.call(payment) > 2) {
        return ResponseEntity.ok("done");
      }
      return switch (how) {
        case "answer" -> ResponseEntity.status(HttpStatus.CONFLICT).header("X-Why", "x").body("no");
        case "status" -> throw new ResponseStatusException(HttpStatus.CONFLICT);
        case "error" -> {
          response.sendError(409, "no");
          yield null;
        }
        case "redirect" -> {
          response.sendRedirect("/elsewhere");
          yield null;
        }
        default -> throw new IllegalStateException("card declined");
      };
    }
  }

  @Configuration(proxyBeanMethods = false)
  @AutoConfigured
  @Import(Payments.class)
  static class Application {
    /** Says who the principal is, as an application's own filter may. */
    @Bean
    Filter users() {
      return (request, response, chain) -> {
        String user = ((HttpServletRequest) request).getHeader("X-User");
        chain.doFilter(
            new HttpServletRequestWrapper((HttpServletRequest) request) {
              @Override
              public @Nullable Principal getUserPrincipal() {
                return user == null ? null : () -> user;
              }
            },
            response);
      };
    }
  }

  @Override
  protected int open(FaultyStore store) {
    return open(store, false);
  }

  private int open(FaultyStore store, boolean lazy, String... settings) {
    ConfigurableApplicationContext application =
        new SpringApplicationBuilder(Application.class)
            .web(WebApplicationType.SERVLET)
            .lazyInitialization(lazy)
            .properties(
                "server.port=0",
                "server.address=127.0.0.1",
                "firstclaim.web.max-request=200KB",
                "spring.main.banner-mode=off",
                "logging.level.root=WARN")
            .properties(settings)
            .initializers(
                context -> {
                  context.getBeanFactory().registerSingleton("store", store);
                  context.getBeanFactory().registerSingleton("desk", desk());
                })
            .run();
    applications.add(application);
    return Objects.requireNonNull(((WebServerApplicationContext) application).getWebServer())
        .getPort();
  }

  @AfterAll
  void stop() {
    applications.forEach(ConfigurableApplicationContext::close);
  }

  @Test
  void keysOfTwoPrincipals_areApart() throws Exception {
    for (String user : List.of("alice", "bob", "alice", "bob")) {
      var _ =
          send(
              one()
                  .to("/payments", "k-user")
                  .header("X-User", user)
                  .POST(BodyPublishers.ofString("p-user")));
    }
    assertThat(desk().calls("p-user")).isEqualTo(2);
    var _ = one().post("/payments", "k-user", "p-user");
    assertThat(desk().calls("p-user")).isEqualTo(3);
  }

  @Test
  void handlerWhoseBeanIsMadeWhenItIsCalled_isCalledOnceForEachKey() throws Exception {
    WebInstance lazy = new WebInstance(open(store("lazy"), true));

    assertThat(lazy.post("/payments", "k-lazy", "p-lazy").statusCode()).isEqualTo(201);
    assertThat(lazy.post("/payments", "k-lazy", "p-lazy").statusCode()).isEqualTo(201);

    assertThat(desk().calls("p-lazy")).isOne();
    assertThat(lazy.post("/payments", null, "p-lazy").statusCode()).isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource({"/forms/bodies,false", "/forms/bodies?q=1&a=0,false", "/forms/bodies?q=1&a=0,true"})
  void formThatIsABody_reachesItsHandler_withoutTheQuery(String path, boolean put)
      throws Exception {
    String form = "a=1&b=x+%26%C3%BC&a=2&flag";
    for (int i = 1; i <= 2; i++) {
      HttpResponse<String> answer = form(path, "k-form" + path.length(), form, put);
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).startsWith("{a=[1, 2], b=[x &ü], flag=[");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/forms/texts?text=0", "/forms/streams?text=0", "/forms/streams"})
  void formThatIsText_reachesItsHandler_withoutTheQuery(String path) throws Exception {
    HttpResponse<String> answer = form(path, "k" + path.length(), "text=x%20y&b=1&b=2", false);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).startsWith("text=x+y&b=1&b=2 ");
  }

  @Test
  void formThatIsPut_isToldApartByItsParameters_valuesOrNot() throws Exception {
    String path = "/forms?q=1";
    HttpResponse<String> first = form(path, "k-put", "payment=p-put&flag", true);
    assertThat(first.body()).startsWith("{q=[1], payment=[p-put], flag=[").endsWith(" 1");
    assertThat(form(path, "k-put", "payment=p-put&flag", true).body()).isEqualTo(first.body());
    assertProblem(form(path, "k-put", "payment=p-put&flag=2", true), 422, "other-request");
    assertThat(desk().calls("p-put")).isOne();
  }

  /** Without Spring's filter, no parameter comes from the body of a PUT. */
  @Test
  void formThatIsPut_andIsABody_isToldApartByIt() throws Exception {
    WebInstance plain =
        new WebInstance(open(store("plain"), false, "spring.mvc.formcontent.filter.enabled=false"));
    HttpResponse<String> first = putBody(plain, "payment=p-plain");

    assertThat(first.body()).isEqualTo("{payment=[p-plain]} 1");
    assertThat(putBody(plain, "payment=p-plain").body()).isEqualTo(first.body());
    assertProblem(putBody(plain, "payment=other"), 422, "other-request");
  }

  private static HttpResponse<String> putBody(WebInstance instance, String form) throws Exception {
    return send(typed(instance, "/forms/bodies", "k-plain").PUT(BodyPublishers.ofString(form)));
  }

  private HttpResponse<String> form(String path, String key, String form, boolean put)
      throws Exception {
    return send(
        typed(one(), path, key).method(put ? "PUT" : "POST", BodyPublishers.ofString(form)));
  }

  private static HttpRequest.Builder typed(WebInstance instance, String path, String key) {
    return instance.to(path, key).setHeader("Content-Type", "application/x-www-form-urlencoded");
  }

  @Test
  void handlerThatIsForwardedTo_isCalledOnceForEachKey() throws Exception {
    assertProblem(one().post("/forwarded/payments", null, "p-forward"), 400, "missing");
    for (int i = 1; i <= 2; i++) {
      HttpResponse<String> answer = one().post("/forwarded/payments", "k-forward", "p-forward");
      assertThat(answer.statusCode()).isEqualTo(201);
      assertThat(isReplayed(answer)).isEqualTo(i == 2);
      assertThat(answer.body()).isEqualTo("zahlung №1 of p-forward");
    }
    assertThat(desk().calls("p-forward")).isOne();
  }

  /** The key is for the handler that forwards, and for what that does. */
  @Test
  void handlerThatAnotherOneForwardsTo_isCalledOnceForEachKey() throws Exception {
    for (int i = 1; i <= 2; i++) {
      HttpResponse<String> answer = put("/forwarded/payments", "k-forward", "p-through");
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(isReplayed(answer)).isEqualTo(i == 2);
    }
    assertThat(desk().calls("p-through")).isOne();
    assertThat(put("/forwarded/payments", null, "p-through").body()).isEqualTo("put 2");
    assertProblem(put("/forwarded/strict", null, "p-through"), 400, "missing");
    assertThat(desk().calls("p-through")).isEqualTo(2);
  }

  private HttpResponse<String> put(String path, @Nullable String key, String body)
      throws Exception {
    return send(one().to(path, key).PUT(BodyPublishers.ofString(body)));
  }

  @Test
  void errorThatIsSent_isPassedOn_andNotStored() throws Exception {
    for (int i = 1; i <= 2; i++) {
      assertThat(one().post("/failing/error", "k-error", "p-error").statusCode()).isEqualTo(409);
      assertThat(desk().calls("p-error")).isEqualTo(i);
    }
    assertThat(one().post("/failing/error", "k-error", "p-error").body()).isEqualTo("done");
  }
}
