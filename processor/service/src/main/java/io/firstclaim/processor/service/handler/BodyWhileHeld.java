package io.firstclaim.processor.service.handler;

import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.processor.handler.RecordContext;
import java.net.http.HttpRequest.BodyPublisher;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.Flow.Subscriber;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;

/**
 * A request's body that leaves only while the record's lease is held. Between the handler's own
 * look at the lease and the wire, a request waits in the client, for a connection or for a thread;
 * of a process that was paused meanwhile, nothing more is to leave. So the lease is looked at again
 * where the client writes: whenever it asks for a piece of the body, and in HTTP/1.1 when it asks
 * for the body's length too, as it has a connection and writes the headers. In HTTP/2 the client
 * would lose one of the connection's streams by that; there a request may be begun, and is then
 * reset. So one without a body, whose headers are all of it, has no such look. Thread-safe.
 */
final class BodyWhileHeld implements BodyPublisher {
  private final BodyPublisher body;
  private final RecordContext context;
  private final boolean looksBeforeHeaders;
  private volatile @Nullable LeaseLostException refusal;
  private volatile boolean begun;

  /**
   * The body of a request for a record.
   *
   * @param looksBeforeHeaders whether not even headers may leave; not where it may be HTTP/2
   */
  BodyWhileHeld(BodyPublisher body, RecordContext context, boolean looksBeforeHeaders) {
    this.body = body;
    this.context = context;
    this.looksBeforeHeaders = looksBeforeHeaders;
  }

  /** Why the request was not written, or not to its end; empty if it was not refused. */
  Optional<LeaseLostException> refusal() {
    return Optional.ofNullable(refusal);
  }

  /** Whether the client has begun to write the request; before that, nothing of it has left. */
  boolean isBegun() {
    return begun;
  }

  private void ensureHeld() {
    try {
      context.ensureHeld();
    } catch (LeaseLostException e) {
      refusal = e;
      throw e;
    }
  }

  @Override
  public long contentLength() {
    begun = true;
    if (looksBeforeHeaders) {
      ensureHeld();
    }
    return body.contentLength();
  }

  @Override
  public void subscribe(Subscriber<? super ByteBuffer> client) {
    body.subscribe(new Pieces(client));
  }

  /** Passes on what the client asks for and gets. */
  private final class Pieces implements Subscriber<ByteBuffer> {
    private final Subscriber<? super ByteBuffer> client;

    Pieces(Subscriber<? super ByteBuffer> client) {
      this.client = client;
    }

    @Override
    public void onSubscribe(Subscription pieces) {
      client.onSubscribe(
          new Subscription() {
            @Override
            public void request(long count) {
              begun = true;
              try {
                ensureHeld();
              } catch (LeaseLostException e) {
                pieces.cancel();
                client.onError(e);
                return;
              }
              pieces.request(count);
            }

            @Override
            public void cancel() {
              pieces.cancel();
            }
          });
    }

    @Override
    public void onNext(ByteBuffer piece) {
      client.onNext(piece);
    }

    @Override
    public void onError(Throwable fault) {
      client.onError(fault);
    }

    @Override
    public void onComplete() {
      client.onComplete();
    }
  }
}
