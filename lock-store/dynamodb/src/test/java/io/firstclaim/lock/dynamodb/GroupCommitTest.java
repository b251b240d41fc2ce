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
import org.junit.jupiter.api.Timeout;

/** Group commit of texts, whose key is their first letter, to requests that are held. */
@Timeout(60)
class GroupCommitTest {
  private static final String BROKEN_OFF = "broken off";

  private final List<Thread> threads = new ArrayList<>();
  private final List<Sent> sent = new CopyOnWriteArrayList<>();
  private final AtomicInteger underWay = new AtomicInteger();
  private final AtomicInteger mostUnderWay = new AtomicInteger();
  private final GroupCommit<String, String> commit = of(4, 2, 3, Duration.ofMinutes(1));

  private GroupCommit<String, String> of(int most, int least, int requests, Duration patience) {
    return new GroupCommit<>(
        new GroupCommit.Limits(most, least, requests, patience), new HeldRequests());
  }

  /** A request, and what it waits for. */
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
      sent.add(request);
      mostUnderWay.accumulateAndGet(underWay.incrementAndGet(), Math::max);
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
    await().until(() -> isWaiting(thread));
    return task;
  }

  private static boolean isWaiting(Thread thread) {
    return switch (thread.getState()) {
      case WAITING, TIMED_WAITING, TERMINATED -> true;
      default -> false;
    };
  }

  private Sent request(int n) {
    await().until(() -> sent.size() > n);
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
  void writesThatCome_whileRequestsAreUnderWay_leaveTogetherInTheNext() throws Exception {
    write(commit, "a");
    write(commit, "b");
    List<Future<String>> later = List.of(write(commit, "c"), write(commit, "d"), write(commit, "e"));
    assertThat(sent).hasSize(2);

    answer(1);

    assertThat(request(2).writes()).containsExactly("c", "d", "e");
    assertThat(request(2).alone()).isFalse();
    answer(2);
    assertThat(later.get(0).get()).isEqualTo("ok c");
    assertThat(later.get(1).get()).isEqualTo("ok d");
    assertThat(later.get(2).get()).isEqualTo("ok e");
  }

  @Test
  void fullBatch_leavesWithoutWaiting_asLongAsTheBoundOfRequestsAllows() {
    for (String text : List.of("a", "b", "c", "d", "e", "f")) {
      write(commit, text);
    }
    assertThat(request(2).writes()).containsExactlyInAnyOrder("c", "d", "e", "f");

    for (String text : List.of("g", "h", "i", "j", "k")) {
      write(commit, text);
    }
    assertThat(sent).as("three requests are the most").hasSize(3);

    answer(0);
    assertThat(request(3).writes()).containsExactly("g", "h", "i", "j");
    assertThat(mostUnderWay.get()).isEqualTo(3);
    answer(1);
    answer(2);
    assertThat(request(4).writes()).containsExactly("k");
  }

  @Test
  void twoWritesOfOneKey_neverLeaveTogether() throws Exception {
    write(commit, "a");
    write(commit, "b");
    Future<String> c1 = write(commit, "c1");
    Future<String> c2 = write(commit, "c2");
    Future<String> d = write(commit, "d");

    answer(0);
    assertThat(request(2).writes()).containsExactly("c1", "d");
    answer(2);
    assertThat(request(3).writes()).containsExactly("c2");
    answer(3);
    assertThat(c1.get()).isEqualTo("ok c1");
    assertThat(c2.get()).isEqualTo("ok c2");
    assertThat(d.get()).isEqualTo("ok d");
  }

  @Test
  void senderThatIsInterrupted_breaksOffNobodyElses_andTheNextIsCalled() throws Exception {
    write(commit, "a");
    write(commit, "b");
    Future<String> sender = write(commit, "c");
    Future<String> other = write(commit, "d");
    Thread senders = threads.get(2);
    answer(0);
    assertThat(request(2).writes()).containsExactly("c", "d");
    Future<String> next = write(commit, "e");

    senders.interrupt();

    assertThatThrownBy(sender::get).hasCauseInstanceOf(StoreUnavailableException.class);
    assertThat(other.get()).isEqualTo(BROKEN_OFF);
    answer(3);
    assertThat(next.get()).isEqualTo("ok e");
  }

  @Test
  void senderThatWasInterruptedBefore_sendsItsOwnOnly() throws Exception {
    write(commit, "a");
    write(commit, "b");
    Future<String> interrupted = write(commit, "c");
    Future<String> other = write(commit, "d");
    threads.get(2).interrupt();
    await().until(() -> isWaiting(threads.get(2)));

    answer(0);

    assertThatThrownBy(interrupted::get).hasCauseInstanceOf(StoreUnavailableException.class);
    assertThat(sent.get(2).writes()).containsExactly("c");
    answer(3);
    assertThat(other.get()).isEqualTo("ok d");
  }

  @Test
  void senderThatBreaksDown_leavesNobodyWaiting() throws Exception {
    write(commit, "a");
    write(commit, "b");
    Future<String> sender = write(commit, "c");
    Future<String> other = write(commit, "d");
    answer(0);
    request(2).answer.completeExceptionally(new OutOfMemoryError("by the test"));

    assertThatThrownBy(sender::get).hasCauseInstanceOf(OutOfMemoryError.class);
    assertThat(other.get()).isEqualTo(BROKEN_OFF);
    Future<String> next = write(commit, "e");
    answer(3);
    assertThat(next.get()).isEqualTo("ok e");
  }

  @Test
  void whoWaitsTooLong_leavesTheLine_andIsNotSent() {
    GroupCommit<String, String> impatient = of(4, 2, 3, Duration.ofMillis(50));
    write(impatient, "a");
    write(impatient, "b");

    assertThatThrownBy(() -> impatient.write("c")).isInstanceOf(StoreUnavailableException.class);

    Future<String> d = write(impatient, "d");
    answer(0);
    await().until(() -> d.isDone() || sent.size() == 3);
    assertThat(sent.stream().flatMap(each -> each.writes().stream())).doesNotContain("c");
  }

  @Test
  void manyWriters_areAllAnswered_byTheirOwnAnswers() throws Exception {
    GroupCommit<String, String> open =
        new GroupCommit<>(
            new GroupCommit.Limits(25, 2, 16, Duration.ofMinutes(1)),
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
                Thread.yield();
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
