package io.firstclaim.processor.dataset;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.Faults;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Sends requests to a dataset's bucket, a bounded number at once, and puts the SDK's faults into
 * the dataset's words. Thread-safe.
 */
final class S3Requests {
  private final String bucket;

  /** Whoever waited for a connection instead would run into the client's time limit. */
  private final Semaphore atOnce;

  /**
   * Requests to a bucket.
   *
   * @param most are sent at once; the client needs a few connections more
   */
  S3Requests(String bucket, int most) {
    this.bucket = bucket;
    this.atOnce = new Semaphore(most);
  }

  /** What a fault means to whoever expects it. */
  interface Meaning<T> {
    /** The result that it stands for; empty if it is a fault. */
    Optional<T> of(RuntimeException fault) throws InterruptedException;
  }

  /**
   * Sends a request. It must not send another through this, which would have to wait for it.
   *
   * @param what it asks for, for people, such as {@code object x}
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket is not there or the role may not do this
   */
  <T> T send(String what, Supplier<T> request) throws InterruptedException {
    return send(what, request, _ -> Optional.empty());
  }

  /** Sends a request for something; empty if it is not there. Otherwise throws as {@link #send}. */
  <T> Optional<T> find(String what, Supplier<T> request) throws InterruptedException {
    return send(
        what,
        () -> Optional.of(request.get()),
        fault -> isMissingKey(fault) ? Optional.of(Optional.empty()) : Optional.empty());
  }

  /**
   * Sends a write on the condition that nothing is there; throws as {@link #send}.
   *
   * @return false if something is there
   */
  boolean tryWrite(String what, Runnable write) throws InterruptedException {
    return send(
        what,
        () -> {
          write.run();
          return true;
        },
        fault -> status(fault) == 412 ? Optional.of(false) : Optional.empty());
  }

  /**
   * Sends a request of which some faults are expected; throws as {@link #send} for the others.
   *
   * @param meaning may send another request
   */
  <T> T send(String what, Supplier<T> request, Meaning<T> meaning) throws InterruptedException {
    try {
      atOnce.acquire();
      try {
        return request.get();
      } finally {
        atOnce.release();
      }
    } catch (SdkException e) {
      requireNoInterrupt(e);
      return meaning.of(e).orElseThrow(() -> fault(what, e));
    }
  }

  private RuntimeException fault(String what, RuntimeException fault) {
    // Another 404 may be a gateway's, or that of an upload that was aborted.
    return status(fault) == 403 || Faults.code(fault).equals("NoSuchBucket")
        ? new StoreRefusedException(
            ("S3 bucket %s refuses %s: %s. The bucket must be there, and the role needs"
                    + " s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload in"
                    + " it, and s3:ListBucket and s3:ListBucketMultipartUploads on it")
                .formatted(bucket, what, Faults.inOneLine(fault)))
        : new StoreUnavailableException(
            "S3 bucket %s did not answer for %s: %s"
                .formatted(bucket, what, Faults.inOneLine(fault)),
            fault);
  }

  /** Throws what an interrupt looks like to the SDK as what it is. */
  private static void requireNoInterrupt(RuntimeException fault) throws InterruptedException {
    if (fault instanceof AbortedException) {
      Thread.interrupted(); // the SDK sets it again; the exception below carries it
      throw (InterruptedException) new InterruptedException("while asking S3").initCause(fault);
    }
  }

  /**
   * The answer to a GET that the bucket is there and the object is not; a gateway's 404 says
   * neither.
   */
  private static boolean isMissingKey(RuntimeException fault) {
    return status(fault) == 404 && Faults.code(fault).equals("NoSuchKey");
  }

  /** The status of S3's answer; 0 if there was none. */
  static int status(RuntimeException fault) {
    return fault instanceof S3Exception answered ? answered.statusCode() : 0;
  }
}
