package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A certificate for this machine that it has signed itself, with its key, in a file.
 *
 * @param file a key store of type PKCS12
 * @param keys what a server shows it with
 * @param tls of whoever shows it, and trusts nobody but it
 */
public record Certificate(Path file, KeyManagerFactory keys, SSLContext tls) {
  /** The password of the file and of the key. */
  static final String PASSWORD = "of-a-test";

  /** A new one in this folder. */
  public static Certificate make(Path folder)
      throws IOException, InterruptedException, GeneralSecurityException {
    Path file = folder.resolve("keys.p12").toAbsolutePath();
    Path log = folder.resolve("keytool.log");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=dns:localhost,ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    assertThat(keytool.waitFor()).as(Files.readString(log)).isZero();
    KeyStore store = KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, PASSWORD.toCharArray());
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("server", store.getCertificate("server"));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    try (var out = Files.newOutputStream(folder.resolve("trusted.p12"))) {
      trusted.store(out, PASSWORD.toCharArray());
    }
    return new Certificate(file, keys, tls);
  }

  /** The certificate alone: a trust store of type PKCS12. */
  Path trusted() {
    return file.resolveSibling("trusted.p12");
  }
}
