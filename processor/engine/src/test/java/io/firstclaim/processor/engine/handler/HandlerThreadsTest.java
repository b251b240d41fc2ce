package io.firstclaim.processor.engine.handler;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

class HandlerThreadsTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private final Queue<Thread> used = new ConcurrentLinkedQueue<>();
  private final CountDownLatch mayEnd = new CountDownLatch(1);

  @AfterEach
  void end() {
    mayEnd.countDown();
  }

  private Thread first() {
    return Objects.requireNonNull(used.peek());
  }

  private RecordHandler on(ThreadFactory threads, Duration idle, RecordHandler handler) {
    return new HandlerThreads(
        context -> {
          used.add(Thread.currentThread());
          return handler.handle(context);
        },
        threads,
        idle);
  }

  private RecordHandler on(RecordHandler handler) {
    return on(Thread.ofPlatform().daemon().name("handler-", 1).factory(), LONG, handler);
  }

  private static HandlerResult done(RecordContext context) {
    return HandlerResult.done();
  }

  /** Calls as a record's thread does; none of these handlers looks at the context. */
  @SuppressWarnings("NullAway")
  private static FutureTask<HandlerResult> call(RecordHandler handler) {
    FutureTask<HandlerResult> call = new FutureTask<>(() -> handler.handle(null));
    Thread _ = Thread.ofVirtual().name("caller").start(call);
    return call;
  }

  @Test
  void call_isMadeOnANamedPlatformThread_whichServesTheNextCallToo() throws Exception {
    RecordHandler handler = on(HandlerThreadsTest::done);

    assertThat(call(handler).get()).isEqualTo(HandlerResult.done());
    eventually(() -> first().getState() != Thread.State.RUNNABLE);
    assertThat(call(handler).get()).isEqualTo(HandlerResult.done());

    assertThat(used).hasSize(2).allMatch(thread -> !thread.isVirtual() && thread.isDaemon());
    assertThat(used).extracting(Thread::getName).containsOnly("handler-1");
  }

  @Test
  void threadsOfTheirOwn_arePlatformThreads_thatKeepNoProcessFromEnding() throws Exception {
    RecordHandler handler =
        new HandlerThreads(
            context -> {
              used.add(Thread.currentThread());
              return HandlerResult.done();
            });

    assertThat(call(handler).get()).isEqualTo(HandlerResult.done());

    assertThat(used)
        .singleElement()
        .matches(thread -> !thread.isVirtual() && thread.isDaemon())
        .matches(thread -> thread.getName().startsWith("firstclaim-handler-"));
  }

  @Test
  void threadThatIsIdle_ends() throws Exception {
    RecordHandler handler =
        on(Thread.ofPlatform().daemon().factory(), Duration.ofMillis(20), HandlerThreadsTest::done);

    HandlerResult _ = call(handler).get();

    eventually(() -> !first().isAlive());
  }

  @Test
  void loggingContextAndClassLoader_areTheCallers_andNotTheNextOnes() throws Exception {
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (URLClassLoader classes = new URLClassLoader(new URL[0])) {
      RecordHandler handler =
          on(
              _ -> {
                boolean own = classes.equals(Thread.currentThread().getContextClassLoader());
                seen.add(MDC.get("id") + " " + own);
                MDC.put("left", "behind");
                return HandlerResult.done();
              });
      Thread.currentThread().setContextClassLoader(classes);
      MDC.put("id", "order-1");
      HandlerResult _ = called(handler);
      eventually(() -> first().getState() != Thread.State.RUNNABLE);
      Thread.currentThread().setContextClassLoader(before);
      MDC.clear();
      HandlerResult _ = called(handler);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
      MDC.clear();
    }

    assertThat(seen).containsExactly("order-1 true", "null false");
    assertThat(MDC.get("left")).isNull();
  }

  @SuppressWarnings("NullAway")
  private static HandlerResult called(RecordHandler handler) throws Exception {
    return handler.handle(null);
  }

  @Test
  void interrupt_isPassedOn_andTheCallIsAwaited() throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    RecordHandler handler =
        on(
            _ -> {
              try {
                mayEnd.await();
                return HandlerResult.done();
              } catch (InterruptedException e) {
                interrupted.countDown();
                mayEnd.await();
                return HandlerResult.retry("interrupted");
              }
            });
    FutureTask<HandlerResult> call = new FutureTask<>(() -> called(handler));
    Thread caller = Thread.ofVirtual().start(call);
    eventually(() -> !used.isEmpty());

    caller.interrupt();

    interrupted.await();
    eventually(() -> first().getState() == Thread.State.WAITING && !caller.isInterrupted());
    assertThat(call.isDone()).isFalse();
    mayEnd.countDown();
    assertThat(call.get()).isEqualTo(HandlerResult.retry("interrupted"));
  }

  @Test
  void whateverIsThrown_isThrownToTheCaller() {
    for (Throwable fault :
        new Throwable[] {
          new InterruptedException("x"), new IllegalStateException("x"), new AssertionError("x")
        }) {
      RecordHandler handler =
          on(
              _ -> {
                switch (fault) {
                  case Exception thrown -> throw thrown;
                  case Error thrown -> throw thrown;
                  default -> throw new AssertionError(fault);
                }
              });

      assertThatThrownBy(() -> called(handler)).isSameAs(fault);
    }
  }

  @Test
  void callForWhichThereIsNoThread_waitsForOne() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    RecordHandler handler =
        on(
            task -> {
              if (asked.incrementAndGet() < 3) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              return Thread.ofPlatform().daemon().unstarted(task);
            },
            LONG,
            HandlerThreadsTest::done);

    assertThat(call(handler).get()).isEqualTo(HandlerResult.done());

    assertThat(asked).hasValue(3);
  }
}
