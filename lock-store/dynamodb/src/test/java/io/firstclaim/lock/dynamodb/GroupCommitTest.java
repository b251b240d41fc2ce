package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Group commit of texts, in which a text's first letter is its key. The test holds the requests.
 */
class GroupCommitTest {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final String BROKEN_OFF = "broken off";

  private final List<Thread> threads = new ArrayList<>();
  private final List<Sent> sent = new CopyOnWriteArrayList<>();
  private final AtomicInteger underWay = new AtomicInteger();
  private final AtomicInteger mostUnderWay = new AtomicInteger();
  private final GroupCommit<String, String> commit =
      of(Duration.ofMinutes(1), Duration.ofMinutes(1));

  private GroupCommit<String, String> of(Duration slow, Duration patience) {
    return new GroupCommit<>(new GroupCommit.Limits(4, 2, 3, slow, patience), new HeldRequests());
  }

  /** A request, and the answer that the test gives to it. */
  private record Sent(List<String> writes, boolean alone, CompletableFuture<String> answer) {}

  private final class HeldRequests implements GroupCommit.Requests<String, String> {
    @Override
    public Object key(String write) {
      return write.charAt(0);
    }

    @Override
    public String alone(String write) {
      return send(new Sent(List.of(write), true, new CompletableFuture<>())) + write;
    }

    @Override
    public List<String> together(List<String> writes) {
      String answer = send(new Sent(List.copyOf(writes), false, new CompletableFuture<>()));
      return writes.stream().map(write -> answer + write).toList();
    }

    private String send(Sent request) {
      mostUnderWay.accumulateAndGet(underWay.incrementAndGet(), Math::max);
      sent.add(request);
      try {
        return request.answer.get();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new StoreUnavailableException("interrupted", e);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof Error error) {
          throw error;
        }
        throw new StoreUnavailableException("failed", e);
      } finally {
        underWay.decrementAndGet();
      }
    }

    @Override
    public String brokenOff() {
      return BROKEN_OFF;
    }
  }

  private Future<String> write(GroupCommit<String, String> by, String text) {
    FutureTask<String> task = new FutureTask<>(() -> by.write(text));
    Thread thread = Thread.ofPlatform().daemon().start(task);
    threads.add(thread);
    await().atMost(PATIENCE).until(() -> isWaiting(thread));
    return task;
  }

  private static boolean isWaiting(Thread thread) {
    return switch (thread.getState()) {
      case WAITING, TIMED_WAITING, TERMINATED -> true;
      default -> false;
    };
  }

  private Sent request(int n) {
    await().atMost(PATIENCE).until(() -> sent.size() > n);
    return sent.get(n);
  }

  private void answer(int n) {
    request(n).answer.complete("ok ");
  }

  @Test
  void writeOnAnIdleStore_leavesAtOnce_andAlone() throws Exception {
    Future<String> a = write(commit, "a");

    assertThat(request(0).writes()).containsExactly("a");
    assertThat(request(0).alone()).isTrue();
    answer(0);
    assertThat(a.get()).isEqualTo("ok a");
  }

  @Test
  void writesThatCome_whileARequestIsUnderWay_leaveTogetherInTheNext() throws Exception {
    var _ = write(commit, "a");
    List<Future<String>> later =
        List.of(write(commit, "b"), write(commit, "c"), write(commit, "d"));
    assertThat(sent).hasSize(1);

    answer(0);

    assertThat(request(1).writes()).containsExactly("b", "c", "d");
    assertThat(request(1).alone()).isFalse();
    answer(1);
    assertThat(later.get(0).get()).isEqualTo("ok b");
    assertThat(later.get(1).get()).isEqualTo("ok c");
    assertThat(later.get(2).get()).isEqualTo("ok d");
  }

  @Test
  void fullBatch_leavesWithoutWaiting_asLongAsTheBoundOfRequestsAllows() {
    for (String text : List.of("a", "b", "c", "d", "e")) {
      var _ = write(commit, text);
    }
    assertThat(request(1).writes()).containsExactlyInAnyOrder("b", "c", "d", "e");
    for (String text : List.of("f", "g", "h", "i")) {
      var _ = write(commit, text);
    }
    assertThat(request(2).writes()).containsExactlyInAnyOrder("f", "g", "h", "i");

    for (String text : List.of("j", "k", "l", "m", "n")) {
      var _ = write(commit, text);
    }
    assertThat(sent).as("three requests are the most").hasSize(3);

    answer(0);
    assertThat(request(3).writes()).containsExactly("j", "k", "l", "m");
    answer(1);
    answer(2);
    answer(3);
    assertThat(request(4).writes()).containsExactly("n");
    assertThat(mostUnderWay.get()).isEqualTo(3);
  }

  @Test
  void twoWritesOfOneKey_neverLeaveTogether() throws Exception {
    var _ = write(commit, "a");
    Future<String> b1 = write(commit, "b1");
    Future<String> b2 = write(commit, "b2");
    Future<String> c = write(commit, "c");

    answer(0);
    assertThat(request(1).writes()).containsExactly("b1", "c");
    answer(1);
    assertThat(request(2).writes()).containsExactly("b2");
    answer(2);
    assertThat(b1.get()).isEqualTo("ok b1");
    assertThat(b2.get()).isEqualTo("ok b2");
    assertThat(c.get()).isEqualTo("ok c");
  }

  @Test
  void senderThatIsInterrupted_breaksOffNobodyElses_andTheNextIsCalled() throws Exception {
    var _ = write(commit, "a");
    Future<String> sender = write(commit, "b");
    Future<String> other = write(commit, "c");
    answer(0);
    assertThat(request(1).writes()).containsExactly("b", "c");
    Future<String> next = write(commit, "d");

    threads.get(1).interrupt();

    assertThatThrownBy(sender::get).hasCauseInstanceOf(StoreUnavailableException.class);
    assertThat(other.get()).isEqualTo(BROKEN_OFF);
    answer(2);
    assertThat(next.get()).isEqualTo("ok d");
  }

  @Test
  void senderThatWasInterruptedBefore_sendsItsOwnOnly() throws Exception {
    var _ = write(commit, "a");
    Future<String> interrupted = write(commit, "b");
    Future<String> other = write(commit, "c");
    threads.get(1).interrupt();
    await().atMost(PATIENCE).until(() -> isWaiting(threads.get(1)));

    answer(0);

    assertThatThrownBy(interrupted::get).hasCauseInstanceOf(StoreUnavailableException.class);
    assertThat(request(1).writes()).containsExactly("b");
    answer(2);
    assertThat(other.get()).isEqualTo("ok c");
  }

  @Test
  void senderThatBreaksDown_leavesNobodyWaiting() throws Exception {
    var _ = write(commit, "a");
    Future<String> sender = write(commit, "b");
    Future<String> other = write(commit, "c");
    answer(0);
    request(1).answer.completeExceptionally(new OutOfMemoryError("by the test"));

    assertThatThrownBy(sender::get).hasCauseInstanceOf(OutOfMemoryError.class);
    assertThat(other.get()).isEqualTo(BROKEN_OFF);
    Future<String> next = write(commit, "d");
    answer(2);
    assertThat(next.get()).isEqualTo("ok d");
  }

  @Test
  void whoBreaksDown_asItIsCalled_isFollowedByTheNext() {
    var _ = write(commit, "a");
    Thread dying =
        new Thread(() -> commit.write("b")) {
          @Override
          public void interrupt() {
            if (Thread.currentThread().equals(this)) {
              throw new OutOfMemoryError("by the test");
            }
            super.interrupt();
          }
        };
    dying.setUncaughtExceptionHandler((_, _) -> {});
    dying.start();
    await().atMost(PATIENCE).until(() -> isWaiting(dying));
    dying.interrupt();
    await().atMost(PATIENCE).until(() -> isWaiting(dying));

    answer(0);

    await().atMost(PATIENCE).until(() -> !dying.isAlive());
    var _ = write(commit, "c");
    assertThat(request(1).writes()).containsExactly("c");
  }

  @Test
  void whoWaitsForASlowRequest_overtakesIt_withAllWhoWait_asTheBoundAllows() {
    GroupCommit<String, String> hurried = of(Duration.ofMillis(50), Duration.ofMinutes(1));
    Future<String> a = write(hurried, "a");
    Future<String> b = write(hurried, "b");
    assertThat(request(1).writes()).containsExactly("b");
    Future<String> c = write(hurried, "c");
    assertThat(request(2).writes()).containsExactly("c");

    Future<String> d = write(hurried, "d");
    answer(0);
    assertThat(request(3).writes()).containsExactly("d");
    assertThat(mostUnderWay.get()).isEqualTo(3);
    answer(1);
    answer(2);
    answer(3);
    assertThat(List.of(a, b, c, d)).allSatisfy(each -> assertThat(each.get()).startsWith("ok "));
  }

  @Test
  void whoWaitsTooLong_leavesTheLine_andIsNotSent() {
    GroupCommit<String, String> impatient = of(Duration.ofMinutes(1), Duration.ofMillis(50));
    var _ = write(impatient, "a");

    assertThatThrownBy(() -> impatient.write("b")).isInstanceOf(StoreUnavailableException.class);

    answer(0);
    Future<String> c = write(impatient, "c");
    await().atMost(PATIENCE).until(() -> c.isDone() || sent.size() == 2);
    assertThat(sent.stream().flatMap(each -> each.writes().stream())).doesNotContain("b");
  }

  @Test
  void manyWriters_areAllAnswered_byTheirOwnAnswers() throws Exception {
    GroupCommit<String, String> open =
        new GroupCommit<>(
            new GroupCommit.Limits(25, 2, 16, Duration.ofMillis(1), Duration.ofMinutes(1)),
            new GroupCommit.Requests<>() {
              @Override
              public Object key(String write) {
                return write;
              }

              @Override
              public String alone(String write) {
                return "ok " + write;
              }

              @Override
              public List<String> together(List<String> writes) {
                return writes.stream().map(this::alone).toList();
              }

              @Override
              public String brokenOff() {
                return BROKEN_OFF;
              }
            });
    List<FutureTask<Void>> tasks =
        IntStream.range(0, 64)
            .mapToObj(
                writer ->
                    new FutureTask<Void>(
                        () -> {
                          for (int i = 0; i < 2_000; i++) {
                            String text = writer + "/" + i;
                            assertThat(open.write(text)).isEqualTo("ok " + text);
                          }
                        },
                        null))
            .toList();
    tasks.forEach(task -> Thread.ofVirtual().start(task));
    for (FutureTask<Void> task : tasks) {
      task.get();
    }
  }
}
