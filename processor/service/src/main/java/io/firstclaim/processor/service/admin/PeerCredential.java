package io.firstclaim.processor.service.admin;

import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.security.TokenFile;
import io.firstclaim.processor.service.security.WrongTokenFileException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** Who this instance is to the others of its zone, and what it shows them. Thread-safe. */
@Singleton
final class PeerCredential {
  private final String zone;
  private final boolean isNeeded;
  private final Optional<Path> file;

  @Inject
  PeerCredential(ServiceSettings settings) {
    this(
        settings.engine().application() + "/" + settings.engine().zone(),
        settings.tokenFile().isPresent(),
        settings.audit().tokenFile());
  }

  /**
   * A credential.
   *
   * @param zone of which application and zone the instance is
   * @param isNeeded whether the instances of the zone answer nobody without a token
   * @param file with the token itself, read each time: it may be replaced
   */
  PeerCredential(String zone, boolean isNeeded, Optional<Path> file) {
    this.zone = zone;
    this.isNeeded = isNeeded;
    this.file = file;
  }

  /** {@code APPLICATION/ZONE}. */
  String zone() {
    return zone;
  }

  /**
   * What to show; empty if none is needed.
   *
   * @throws IOException if one is needed, and there is none
   */
  Optional<String> token() throws IOException {
    if (file.isEmpty()) {
      if (isNeeded) {
        throw new IOException(
            "this instance has no token to ask it with: give firstclaim.audit.token-file");
      }
      return Optional.empty();
    }
    try {
      return Optional.of(TokenFile.token(file.get()));
    } catch (WrongTokenFileException e) {
      throw new IOException("firstclaim.audit.token-file: " + e.getMessage(), e);
    }
  }
}
