package io.firstclaim.processor.service.security;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpMethod;
import io.micronaut.http.HttpRequest;
import java.net.InetAddress;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Says who asks, and what a request needs. The whole policy is here, and everything is closed that
 * it does not open:
 *
 * <ul>
 *   <li>{@code /health}, and what is no route at all, which is a static file or nothing: open to
 *       read.
 *   <li>{@code /api/claims}, {@code /api/locks} and {@code /api/documents}: a claimer's.
 *   <li>Everything else, {@code /api} and {@code /prometheus} among it: a reader's; whatever is no
 *       GET or HEAD, an operator's.
 *   <li>Without a token file nobody is an operator or a claimer, whoever asks from this machine is
 *       a reader, and {@code /prometheus} is open, as it was before there were tokens.
 * </ul>
 *
 * Thread-safe.
 */
public final class AccessPolicy {
  /** Who asks from this machine, where there is no token file. */
  static final Caller LOCAL = new Caller("loopback", Role.READER);

  /** What is served to claimers. */
  private static final List<String> CLAIMS = List.of("/api/claims", "/api/locks", "/api/documents");

  private static final Pattern BEARER = Pattern.compile("(?i)bearer +(\\S+) *");

  /** A page elsewhere can have its own name lead to this machine. */
  private static final Pattern LOCAL_HOST =
      Pattern.compile("(?i)(localhost|127(\\.\\d{1,3}){3}|\\[::1])(:\\d{1,5})?");

  /** A request with one of these headers was passed on from elsewhere. */
  private static final List<String> PASSED_ON =
      List.of("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP");

  private final Optional<TokenFile> tokens;

  /** Knows callers by these tokens, if there are any. */
  public AccessPolicy(Optional<TokenFile> tokens) {
    this.tokens = tokens;
  }

  /** Whether callers show tokens. */
  boolean hasTokens() {
    return tokens.isPresent();
  }

  /** Who asks, if that is known. */
  Optional<Caller> callerOf(HttpRequest<?> request) {
    return tokens
        .map(file -> bearer(request).flatMap(file::callerOf))
        .orElseGet(() -> isLocal(request) ? Optional.of(LOCAL) : Optional.empty());
  }

  /** The token that a request shows, good or not. */
  public static Optional<String> bearer(HttpRequest<?> request) {
    return Optional.ofNullable(request.getHeaders().get(HttpHeaders.AUTHORIZATION))
        .map(BEARER::matcher)
        .filter(Matcher::matches)
        .map(header -> header.group(1));
  }

  static boolean isLocal(HttpRequest<?> request) {
    @Nullable InetAddress address = request.getRemoteAddress().getAddress();
    @Nullable String host = request.getHeaders().get(HttpHeaders.HOST);
    return address != null
        && address.isLoopbackAddress()
        && host != null
        && LOCAL_HOST.matcher(host).matches()
        && PASSED_ON.stream().noneMatch(request.getHeaders()::contains);
  }

  /**
   * What a request needs; empty if it is open.
   *
   * @param isRoute whether anything but a static file may answer it
   */
  Optional<Role> needed(HttpMethod method, String path, boolean isRoute) {
    boolean reads = method == HttpMethod.GET || method == HttpMethod.HEAD;
    if (CLAIMS.stream().anyMatch(folder -> isUnder(folder, path)) && (hasTokens() || !reads)) {
      return Optional.of(Role.CLAIMER);
    }
    if (!reads) {
      return Optional.of(Role.OPERATOR);
    }
    boolean isOpen =
        isUnder("/health", path)
            || (!isRoute && !isUnder("/api", path))
            || (isUnder("/prometheus", path) && !hasTokens());
    return isOpen ? Optional.empty() : Optional.of(Role.READER);
  }

  /** Whether this may be done by that caller. */
  static boolean allows(Optional<Role> needed, @Nullable Role has) {
    return needed.map(role -> has != null && has.includes(role)).orElse(true);
  }

  /** The highest of these roles, as they are written; null if there is none. */
  static @Nullable Role roleOf(Collection<String> roles) {
    @Nullable Role highest = null;
    for (Role role : Role.values()) {
      highest = roles.contains(role.text()) ? role : highest;
    }
    return highest;
  }

  private static boolean isUnder(String folder, String path) {
    return path.equals(folder) || path.startsWith(folder + "/");
  }
}
