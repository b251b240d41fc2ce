package io.firstclaim.micronaut.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.framework.WebDesk;
import io.firstclaim.lock.testkit.framework.WebInstance;
import io.firstclaim.micronaut.IdempotencyKey;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.annotation.Order;
import io.micronaut.core.bind.ArgumentBinder;
import io.micronaut.core.convert.ArgumentConversionContext;
import io.micronaut.core.order.Ordered;
import io.micronaut.core.type.Argument;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Filter;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ServerFilter;
import io.micronaut.http.bind.binders.TypedRequestArgumentBinder;
import io.micronaut.http.filter.HttpServerFilter;
import io.micronaut.http.filter.ServerFilterChain;
import io.micronaut.runtime.server.EmbeddedServer;
import jakarta.inject.Singleton;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;

/** Who says who the principal is, as late as an application may. */
class PrincipalsTest {
  @Requires(property = "web", value = "principals")
  @Controller
  @Consumes("text/plain")
  static class Payments {
    private final WebDesk desk;

    Payments(WebDesk desk) {
      this.desk = desk;
    }

    @Post("/payments")
    @IdempotencyKey
    String pay(HttpRequest<?> request, @Body String payment) {
      return request.getUserPrincipal().map(Principal::getName).orElse("nobody")
          + desk.call(payment);
    }

    @Post("/late")
    @IdempotencyKey
    String late(LatePrincipal principal, @Body String payment) {
      return principal + " " + desk.call(payment);
    }
  }

  /** Whom an argument says to be the principal. */
  record LatePrincipal(String name) {}

  /** Sets the principal after all filters, as nobody should. */
  @Requires(property = "web", value = "principals")
  @Singleton
  static class LateBinder implements TypedRequestArgumentBinder<LatePrincipal> {
    @Override
    public Argument<LatePrincipal> argumentType() {
      return Argument.of(LatePrincipal.class);
    }

    @Override
    public ArgumentBinder.BindingResult<LatePrincipal> bind(
        ArgumentConversionContext<LatePrincipal> context, HttpRequest<?> request) {
      set(request, "X-Late");
      return () ->
          Optional.of(new LatePrincipal(String.valueOf(request.getHeaders().get("X-Late"))));
    }
  }

  private static void set(HttpRequest<?> request, String header) {
    String user = request.getHeaders().get(header);
    if (user != null) {
      Principal principal = () -> user;
      request.setUserPrincipal(principal);
    }
  }

  /** Without an order, for all requests. */
  @Requires(property = "web", value = "principals")
  @ServerFilter(Filter.MATCH_ALL_PATTERN)
  static class OfAll {
    @RequestFilter
    void users(HttpRequest<?> request) {
      set(request, "X-Of-All");
    }
  }

  /** Without an order, for some requests. */
  @Requires(property = "web", value = "principals")
  @ServerFilter("/payments/**")
  static class OfSome {
    @RequestFilter
    void users(HttpRequest<?> request) {
      set(request, "X-Of-Some");
    }
  }

  /** The last one, it thinks. */
  @Requires(property = "web", value = "principals")
  @ServerFilter("/payments/**")
  @Order(Ordered.LOWEST_PRECEDENCE)
  static class Latest {
    @RequestFilter
    void users(HttpRequest<?> request) {
      set(request, "X-Latest");
    }
  }

  /** As filters were written before. */
  @Requires(property = "web", value = "principals")
  @Filter("/payments/**")
  static class Legacy implements HttpServerFilter {
    @Override
    public int getOrder() {
      return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public Publisher<MutableHttpResponse<?>> doFilter(
        HttpRequest<?> request, ServerFilterChain chain) {
      set(request, "X-Legacy");
      return chain.proceed(request);
    }
  }

  private static HttpResponse<String> pay(
      EmbeddedServer instance, String path, String header, String user) throws Exception {
    return WebInstance.send(
        Shop.to(instance, path, "same").header(header, user).POST(BodyPublishers.ofString("rent")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"X-Of-All", "X-Of-Some", "X-Latest", "X-Legacy"})
  void keysOfTwoPrincipals_areApart_howeverLateAFilterSetsThem(String header) throws Exception {
    try (Shop shop = new Shop("principals")) {
      EmbeddedServer instance = shop.open("one");
      assertThat(pay(instance, "/payments", header, "alice").body()).isEqualTo("alice1");
      assertThat(pay(instance, "/payments", header, "bob").body()).isEqualTo("bob2");
      assertThat(pay(instance, "/payments", header, "alice").body()).isEqualTo("alice1");
      assertThat(pay(instance, "/payments", header, "bob").body()).isEqualTo("bob2");
      assertThat(pay(instance, "/payments", "X-Nobody", "x").body()).isEqualTo("nobody3");
      assertThat(shop.desk().calls("rent")).isEqualTo(3);
    }
  }

  @Test
  void principalThatIsSetAfterTheKeyIsClaimed_isRefused_andNothingIsDoneOrKept() throws Exception {
    try (Shop shop = new Shop("principals")) {
      EmbeddedServer instance = shop.open("one");
      for (String user : List.of("alice", "bob")) {
        HttpResponse<String> answer = pay(instance, "/late", "X-Late", user);
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(WebInstance.isReplayed(answer)).isFalse();
      }
      assertThat(shop.desk().calls("rent")).isZero();
    }
  }
}
