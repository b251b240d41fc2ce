package io.firstclaim.micronaut.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.framework.WebDesk;
import io.firstclaim.lock.testkit.framework.WebInstance;
import io.firstclaim.micronaut.IdempotencyKey;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.security.annotation.Secured;
import io.micronaut.security.authentication.AuthenticationRequest;
import io.micronaut.security.authentication.AuthenticationResponse;
import io.micronaut.security.authentication.provider.HttpRequestAuthenticationProvider;
import io.micronaut.security.rules.SecurityRule;
import jakarta.inject.Singleton;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** An application whose users Micronaut Security knows. */
class UsersTest {
  @Requires(property = "web", value = "users")
  @Secured(SecurityRule.IS_AUTHENTICATED)
  @Controller
  @Consumes("text/plain")
  static class Payments {
    private final WebDesk desk;

    Payments(WebDesk desk) {
      this.desk = desk;
    }

    @Post("/payments")
    @IdempotencyKey
    String pay(Principal principal, @Body String payment) {
      return principal.getName() + desk.call(payment);
    }
  }

  @Requires(property = "web", value = "users")
  @Singleton
  static class Everybody implements HttpRequestAuthenticationProvider<Object> {
    @Override
    public AuthenticationResponse authenticate(
        @Nullable HttpRequest<Object> request, AuthenticationRequest<String, String> who) {
      return AuthenticationResponse.success(who.getIdentity());
    }
  }

  private static HttpResponse<String> pay(EmbeddedServer instance, @Nullable String user)
      throws Exception {
    var request = Shop.to(instance, "/payments", "same").POST(BodyPublishers.ofString("rent"));
    if (user != null) {
      String credentials = Base64.getEncoder().encodeToString((user + ":x").getBytes(UTF_8));
      request.header("Authorization", "Basic " + credentials);
    }
    return WebInstance.send(request);
  }

  @Test
  void keysOfTwoUsers_areApart_andWhoIsNone_hasNoAnswerReplayed() throws Exception {
    try (Shop shop = new Shop("users")) {
      EmbeddedServer instance = shop.open("one", "micronaut.security.enabled", "true");
      for (int i = 1; i <= 2; i++) {
        assertThat(pay(instance, "alice").body()).isEqualTo("alice1");
        assertThat(pay(instance, "bob").body()).isEqualTo("bob2");
        assertThat(pay(instance, null).statusCode()).isEqualTo(401);
      }
      assertThat(shop.desk().calls("rent")).isEqualTo(2);
    }
  }
}
