package io.firstclaim.processor.service.config;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.engine.api.Holder;
import io.micronaut.context.env.Environment;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Works out what an audit is made with, of the settings that were given. */
final class AuditReader {
  /** Of ordinary trouble, such as a handler that takes long, nobody needs to hear. */
  private static final Duration LEAST_STUCK = Duration.ofMinutes(5);

  private static final int HTTP_PORT = 8080;
  private static final int TLS_PORT = 8443;

  private final Binder binder;
  private final Environment environment;

  AuditReader(Binder binder, Environment environment) {
    this.binder = binder;
    this.environment = environment;
  }

  Auditing read(
      Properties.Audit given,
      String application,
      String zone,
      ClaimSettings claims,
      Optional<String> outcomesTopic,
      Map<String, Object> kafka) {
    Duration tenLeases = claims.lease().multipliedBy(10);
    Duration suitable = tenLeases.compareTo(LEAST_STUCK) < 0 ? LEAST_STUCK : tenLeases;
    String instance = Holder.parse(claims.holder()).instance();
    AuditSettings settings =
        new AuditSettings(
            application,
            claims.namespace(),
            zone,
            outcomesTopic.orElse("none"),
            AuditSettings.violationsTopicOf(application),
            claims.retention(),
            given.stuckAfter() == null ? suitable : given.stuckAfter(),
            address(given.address()),
            directory(given.directory(), application + "-audit-" + zone, instance),
            given.directory() != null || binder.text("firstclaim.instance").isPresent(),
            kafka);
    Optional<String> off =
        given.enabled()
            ? Optional.of("there are no outcomes: firstclaim.outcomes.topic=none")
                .filter(_ -> outcomesTopic.isEmpty())
            : Optional.of("firstclaim.audit.enabled=false");
    return new Auditing(settings, off);
  }

  private Address address(@Nullable String given) {
    if (given != null && binder.areRight("firstclaim.audit.address")) {
      int colon = given.indexOf(':');
      return new Address(given.substring(0, colon), Integer.parseInt(given.substring(colon + 1)));
    }
    String host =
        environment.getProperty("micronaut.server.host", String.class).orElse("127.0.0.1");
    boolean tls =
        environment.getProperty("micronaut.server.ssl.enabled", Boolean.class).orElse(false);
    int port =
        tls
            ? environment.getProperty("micronaut.server.ssl.port", Integer.class).orElse(TLS_PORT)
            : environment.getProperty("micronaut.server.port", Integer.class).orElse(HTTP_PORT);
    boolean everywhere = host.equals("0.0.0.0") || host.contains(":");
    return new Address(everywhere ? hostName() : host, port);
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "127.0.0.1";
    }
  }

  /** An instance's name may hold anything. */
  private Path directory(@Nullable String given, String audit, String instance) {
    boolean plain = instance.matches("[a-zA-Z0-9][a-zA-Z0-9._-]*");
    Path temporary =
        Path.of(
            System.getProperty("java.io.tmpdir"),
            "firstclaim",
            audit
                + "-"
                + (plain ? instance : Fingerprint.of(instance.getBytes(StandardCharsets.UTF_8))));
    try {
      return given == null ? temporary : Path.of(given);
    } catch (InvalidPathException e) {
      binder.wrong("firstclaim.audit.directory", given, "give the path of a folder");
      return temporary;
    }
  }
}
