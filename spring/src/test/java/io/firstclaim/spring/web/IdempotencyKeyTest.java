package io.firstclaim.spring.web;

import static io.firstclaim.lock.testkit.framework.WebInstance.isReplayed;
import static io.firstclaim.lock.testkit.framework.WebInstance.send;
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
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
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

  private int open(FaultyStore store, boolean lazy) {
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
