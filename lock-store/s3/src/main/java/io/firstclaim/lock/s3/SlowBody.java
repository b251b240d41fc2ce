package io.firstclaim.lock.s3;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.firstclaim.lock.TimeSource;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeoutException;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * A body whose second half is sent only a moment after the others are half-way too: by then a store
 * that compares before it reads the body has compared for all of them.
 */
final class SlowBody extends ByteArrayInputStream {
  /** Half of it is more than the SDK's 128 KiB chunks hold back of what they are given. */
  static final int LENGTH = 272 * 1024;

  /** How long to wait for the others, in case a store takes one request after the other. */
  private static final long PATIENCE_MILLIS = 500;

  private static final Duration MOMENT = Duration.ofMillis(50);

  private final CyclicBarrier halfWay;

  private SlowBody(byte[] bytes, CyclicBarrier halfWay) {
    super(bytes);
    this.halfWay = halfWay;
  }

  /** A body of this ASCII text; whenever it is sent again, it meets the others again. */
  static RequestBody of(String text, CyclicBarrier halfWay) {
    byte[] bytes = text.getBytes(US_ASCII);
    return RequestBody.fromContentProvider(
        () -> new SlowBody(bytes, halfWay), bytes.length, "text/plain");
  }

  @Override
  public synchronized int read(byte[] into, int offset, int most) {
    int half = count / 2;
    if (pos < half) {
      return super.read(into, offset, Math.min(most, half - pos));
    }
    if (pos == half) {
      await();
    }
    return super.read(into, offset, most);
  }

  private void await() {
    try {
      halfWay.await(PATIENCE_MILLIS, MILLISECONDS);
      TimeSource.system().sleep(MOMENT);
    } catch (TimeoutException | BrokenBarrierException unused) {
      // The others do not come, so this one goes on alone.
    } catch (InterruptedException unused) {
      Thread.currentThread().interrupt();
    }
  }
}
