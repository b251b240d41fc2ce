package io.firstclaim.processor.service.handler;

import io.firstclaim.lock.OneLine;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The body of a response whose status said it all: read, so that the connection can be used again,
 * and thrown away except for its beginning. A body that is too long, too slow or broken off is cut
 * and its connection closed; the answer stands. Thread-safe.
 */
final class AnswerBody implements BodySubscriber<Void> {
  /** The longest body that is read to its end. */
  static final int MAX_BYTES = 64 * 1024;

  private static final int KEPT_BYTES = 200;
  private static final Duration MAX_TIME = Duration.ofSeconds(1);

  /** True once the body is over, false if it is to be cut. */
  private final CompletableFuture<Boolean> over = new CompletableFuture<>();

  private Flow.@Nullable Subscription subscription;
  private final byte[] beginning = new byte[KEPT_BYTES];
  private long read;

  /** The body's first bytes, in one line; empty if there is nothing to see. */
  synchronized String beginning() {
    int kept = (int) Math.min(read, KEPT_BYTES);
    return OneLine.of(new String(beginning, 0, kept, StandardCharsets.UTF_8)).strip();
  }

  @Override
  public CompletionStage<Void> getBody() {
    return over.thenAccept(
        isOver -> {
          if (!isOver && subscription != null) {
            subscription.cancel();
          }
        });
  }

  @Override
  public void onSubscribe(Flow.Subscription upstream) {
    subscription = upstream;
    over.completeOnTimeout(false, MAX_TIME.toMillis(), TimeUnit.MILLISECONDS);
    upstream.request(Long.MAX_VALUE);
  }

  @Override
  public synchronized void onNext(List<ByteBuffer> buffers) {
    for (ByteBuffer buffer : buffers) {
      int room = (int) Math.max(0, KEPT_BYTES - read);
      buffer.get(
          buffer.position(), beginning, KEPT_BYTES - room, Math.min(room, buffer.remaining()));
      read += buffer.remaining();
    }
    if (read > MAX_BYTES) {
      over.complete(false);
    }
  }

  @Override
  public void onError(Throwable fault) {
    over.complete(true);
  }

  @Override
  public void onComplete() {
    over.complete(true);
  }
}
