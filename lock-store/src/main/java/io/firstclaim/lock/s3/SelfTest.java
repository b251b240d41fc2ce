package io.firstclaim.lock.s3;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Tries whether a bucket keeps conditional writes: each condition by itself, then many writers at
 * once, for some stores compare and write in two steps. Leaves nothing behind where it may delete.
 */
final class SelfTest {
  private static final Logger LOG = LoggerFactory.getLogger(SelfTest.class);

  /**
   * Enough to catch every store that is known to break, in less than a second on one that keeps.
   */
  private static final int ROUNDS = 8;

  private static final int WRITERS = 16;

  private final S3Bucket bucket;
  private final String place;

  SelfTest(S3Bucket bucket) {
    this.bucket = bucket;
    this.place = bucket.prefix() + "self-test/" + Nonce.random() + "/";
  }

  void run() {
    List<String> written = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      requireConditions(written);
      for (int round = 0; round < ROUNDS; round++) {
        String key = place + round;
        written.add(key);
        String first = race(threads, key, null);
        race(threads, key, first);
      }
    } finally {
      written.forEach(this::remove);
    }
  }

  private void requireConditions(List<String> written) {
    String key = place + "conditions";
    written.add(key);
    require(!put(key, "absent", "\"0\"").took, "If-Match created an object that was not there");
    Put first = put(key, "first", null);
    Seen seen = get(key);
    require(first.took || seen.body.equals("first"), "a first write failed");
    require(!put(key, "second", null).took, "If-None-Match: * let a second writer in");
    require(!put(key, "wrong", "\"0\"").took, "If-Match let a write in on a wrong ETag");
    Put second = put(key, "right", seen.eTag);
    Seen after = get(key);
    require(
        after.body.equals("right"),
        second.took
            ? "a write was answered that is not read back"
            : "a write failed on the right ETag");
    require(!put(key, "old", seen.eTag).took, "If-Match let a write in on an old ETag");
  }

  /** Many write at once; the ETag of the only one that took. */
  private String race(ExecutorService threads, String key, @Nullable String on) {
    String header = on == null ? "If-None-Match: *" : "If-Match";
    List<Future<Put>> running = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      String body = header + " " + i;
      Callable<Put> writer = () -> put(key, body, on);
      running.add(threads.submit(writer));
    }
    List<Put> took = running.stream().map(SelfTest::result).filter(Put::took).toList();
    require(
        took.size() <= 1,
        "%s let %d of %d writers in at once".formatted(header, took.size(), WRITERS));
    Seen seen = get(key);
    // None took where the winner's answer was lost and the SDK sent its request again.
    require(
        seen.body.startsWith(header) && (took.isEmpty() || took.getFirst().body.equals(seen.body)),
        "%s: a write was answered that is not read back".formatted(header));
    return seen.eTag;
  }

  private record Put(String body, boolean took) {}

  private record Seen(String body, String eTag) {}

  /** One conditional write. */
  private Put put(String key, String body, @Nullable String on) {
    try {
      bucket
          .client()
          .putObject(
              put -> {
                put.bucket(bucket.name()).key(key).overrideConfiguration(S3Bucket.SETUP);
                if (on == null) {
                  put.ifNoneMatch("*");
                } else {
                  put.ifMatch(on);
                }
              },
              RequestBody.fromBytes(body.getBytes(StandardCharsets.UTF_8)));
      return new Put(body, true);
    } catch (S3Exception e) {
      boolean failed =
          e.statusCode() == 412
              || (e.statusCode() == 404 && !Faults.code(e).equals("NoSuchBucket"));
      if (failed) {
        return new Put(body, false);
      }
      throw refusedOr(e);
    } catch (SdkException e) {
      throw bucket.unavailable(e);
    }
  }

  private Seen get(String key) {
    ResponseBytes<GetObjectResponse> read;
    try {
      read =
          bucket
              .client()
              .getObjectAsBytes(
                  get -> get.bucket(bucket.name()).key(key).overrideConfiguration(S3Bucket.SETUP));
    } catch (S3Exception e) {
      require(e.statusCode() != 404, "an object that was written is not there");
      throw refusedOr(e);
    } catch (SdkException e) {
      throw bucket.unavailable(e);
    }
    GetObjectResponse head = read.response();
    Optional<String> date = head.sdkHttpResponse().firstMatchingHeader("Date");
    require(
        date.isPresent() && head.lastModified() != null,
        "an object was read without Date or Last-Modified, by which leases are judged");
    return new Seen(read.asUtf8String(), head.eTag());
  }

  private RuntimeException refusedOr(S3Exception fault) {
    return switch (fault.statusCode()) {
      case 403 ->
          new StoreRefusedException(
              "S3 bucket %s: %s. Claims need %s"
                  .formatted(bucket.name(), Faults.inOneLine(fault), bucket.permissions()));
      case 404 ->
          new StoreRefusedException(
              "S3 bucket %s is missing; create it, or start with firstclaim.claim.create=true"
                  .formatted(bucket.name()));
      case 501 -> broken("a conditional write was answered " + Faults.inOneLine(fault));
      default -> bucket.unavailable(fault);
    };
  }

  private void require(boolean kept, String seen) {
    if (!kept) {
      throw broken(seen);
    }
  }

  private StoreRefusedException broken(String seen) {
    return new StoreRefusedException(
        "S3 bucket %s does not keep conditional writes: in the self-test %s. Its endpoint is no S3 that claims can rest on"
            .formatted(bucket.name(), seen));
  }

  private static Put result(Future<Put> writer) {
    try {
      return writer.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException("interrupted in the self-test", e);
    }
  }

  private void remove(String key) {
    try {
      bucket
          .client()
          .deleteObject(
              delete ->
                  delete.bucket(bucket.name()).key(key).overrideConfiguration(S3Bucket.SETUP));
    } catch (SdkException e) {
      LOG.debug("Object {} of S3 bucket {} is left to its lifecycle", key, bucket.name(), e);
    }
  }
}
