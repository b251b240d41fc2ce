package io.firstclaim.processor.service.admin;

import io.micronaut.core.io.ResourceResolver;
import io.micronaut.http.HttpVersion;
import io.micronaut.http.ssl.ClientSslConfiguration;
import io.micronaut.http.ssl.SslBuilder;
import io.micronaut.http.ssl.SslConfiguration;
import io.micronaut.http.ssl.SslConfigurationException;
import jakarta.inject.Singleton;
import java.security.GeneralSecurityException;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * TLS towards other instances, as Micronaut's settings for HTTP clients say ({@code
 * micronaut.http.client.ssl.*}): whom to trust, or whom the JVM trusts if they say nothing; and
 * what to show, if they ask for a certificate.
 */
@Singleton
final class PeerTls extends SslBuilder<SSLContext> {
  private final ClientSslConfiguration settings;

  PeerTls(ResourceResolver resources, ClientSslConfiguration settings) {
    super(resources);
    this.settings = settings;
  }

  /**
   * The TLS context that the settings ask for.
   *
   * @throws SslConfigurationException if there is no such store, or its password is another
   */
  SSLContext context() {
    return build(settings).orElseThrow();
  }

  @Override
  public Optional<SSLContext> build(SslConfiguration given) {
    boolean shows = given.getKeyStore().getPath().isPresent();
    KeyManager @Nullable [] shown = shows ? getKeyManagerFactory(given).getKeyManagers() : null;
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(shown, getTrustManagerFactory(given).getTrustManagers(), null);
      return Optional.of(context);
    } catch (GeneralSecurityException e) {
      throw new SslConfigurationException(e);
    }
  }

  @Override
  public Optional<SSLContext> build(SslConfiguration given, HttpVersion version) {
    return build(given);
  }
}
