package io.firstclaim.stack.server;

import java.net.URI;
import java.util.Properties;
import org.gaul.s3proxy.BlobStores;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;

/**
 * The S3 process: S3Proxy over memory, without authentication.
 *
 * <p>Arguments: the port, and {@code atomic} or {@code raw} for S3Proxy's own {@code If-Match}.
 */
final class S3Main {
  private S3Main() {}

  public static void main(String[] args) throws Exception {
    BlobStore memory = BlobStores.create("transient-nio2", new Properties());
    S3Proxy.builder()
        .blobStore(args[1].equals("raw") ? memory : new AtomicIfMatch(memory))
        .endpoint(URI.create("http://127.0.0.1:" + args[0]))
        .awsAuthentication(AuthenticationType.NONE, null, null)
        .build()
        .start();
    Thread.currentThread().join();
  }
}
