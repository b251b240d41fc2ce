package io.firstclaim.processor.service.security;

import io.micronaut.core.order.Ordered;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.Filter;
import io.micronaut.http.annotation.ResponseFilter;
import io.micronaut.http.annotation.ServerFilter;

/**
 * What every response tells a browser: run nothing but the page's own files, guess no types, stand
 * in no frame, send no referrer. There is no CORS: pages elsewhere read nothing.
 */
@ServerFilter(Filter.MATCH_ALL_PATTERN)
final class SecurityHeaders implements Ordered {
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE; // sees the responses of all other filters, too
  }

  @ResponseFilter
  void add(HttpRequest<?> request, MutableHttpResponse<?> response) {
    response.header("Content-Security-Policy", POLICY);
    response.header("X-Content-Type-Options", "nosniff");
    response.header("X-Frame-Options", "DENY");
    response.header("Referrer-Policy", "no-referrer");
    response.header("Cross-Origin-Opener-Policy", "same-origin");
    response.header("Cross-Origin-Resource-Policy", "same-origin");
    if (request.getPath().startsWith("/api")) {
      response.header(HttpHeaders.CACHE_CONTROL, "no-store");
    }
  }
}
