package io.firstclaim.processor.engine.handler;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.keeper.Worker;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Calls a handler whose manners nobody knows on platform threads: there it may compute, spin or
 * hang without keeping the few carriers of all virtual threads from the other records. The record's
 * own thread waits, and passes its interrupt on.
 *
 * <p>There are as many threads as calls at once, which the permits to be in flight bound. An idle
 * one takes the next call or ends after a while; none keeps a process from ending. The logging
 * context, the trace's context and the context class loader are the caller's. Thread-safe.
 */
public final class HandlerThreads implements RecordHandler {
  private static final Logger LOG = LoggerFactory.getLogger(HandlerThreads.class);
  private static final Duration IDLE = Duration.ofSeconds(10);

  /** The pauses between two tries to get a thread from an operating system that has none left. */
  private static final Backoff PAUSES = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(4));

  private final RecordHandler handler;
  private final Executor threads;

  /** Calls this handler, which must be thread-safe. */
  public HandlerThreads(RecordHandler handler) {
    this(handler, Thread.ofPlatform().daemon().name("firstclaim-handler-", 1).factory(), IDLE);
  }

  HandlerThreads(RecordHandler handler, ThreadFactory factory, Duration idle) {
    this.handler = handler;
    this.threads =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            idle.toNanos(),
            TimeUnit.NANOSECONDS,
            new SynchronousQueue<>(),
            factory);
  }

  @Override
  public void open() throws InterruptedException {
    handler.open();
  }

  @Override
  public HandlerResult handle(RecordContext context) throws Exception {
    Worker worker = new Worker();
    @Nullable Map<String, String> logged = MDC.getCopyOfContextMap();
    ClassLoader classes = Thread.currentThread().getContextClassLoader();
    FutureTask<HandlerResult> call =
        new FutureTask<>(
            traced(
                () -> {
                  MDC.setContextMap(logged == null ? Map.of() : logged);
                  Thread.currentThread().setContextClassLoader(classes);
                  worker.begin();
                  try {
                    return handler.handle(context);
                  } finally {
                    boolean _ = worker.end();
                    MDC.clear();
                  }
                }));
    start(call);
    return await(call, worker);
  }

  /**
   * The call in the trace's context of the current thread; the call itself where nothing is traced.
   */
  private static Callable<HandlerResult> traced(Callable<HandlerResult> call) {
    Context context = Context.current();
    return context.equals(Context.root()) ? call : context.wrap(call);
  }

  /** A record waits, under its lease, for the operating system to have a thread for it. */
  private void start(Runnable call) throws InterruptedException {
    for (int refusals = 1; ; refusals++) {
      try {
        threads.execute(call);
        return;
      } catch (OutOfMemoryError e) { // also thrown where a process may have no more threads
        LOG.error("No thread can be had for a handler, trying again: {}", e.getMessage());
        Thread.sleep(PAUSES.after(refusals));
      }
    }
  }

  private static HandlerResult await(FutureTask<HandlerResult> call, Worker worker)
      throws Exception {
    while (true) {
      try {
        return call.get();
      } catch (InterruptedException e) {
        worker.interrupt();
      } catch (ExecutionException e) {
        switch (e.getCause()) {
          case Exception thrown -> throw thrown;
          case Error thrown -> throw thrown;
          case null, default -> throw e;
        }
      }
    }
  }
}
