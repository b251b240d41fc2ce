package io.firstclaim.lock.testkit.framework;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.framework.Diary.Waiting;
import io.firstclaim.lock.testkit.process.ChildJvm;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two instances of an application as processes, which share a store; one is killed in the middle of
 * a web request, of a job that one instance runs at a time, and of a job that is run once each time
 * it is due.
 *
 * <p>The application has a handler of {@code POST /payments} that takes text and answers 201, for
 * each {@code Idempotency-Key} once; a job that is due each second; one with a short delay that one
 * instance runs at a time; and no Kafka. It has the {@link Diary} do the work, tells it its port,
 * and has it listen to runs.
 */
public abstract class KilledApplicationContract {
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final DiaryApplication application;

  /** A contract that this application keeps. */
  protected KilledApplicationContract(DiaryApplication application) {
    this.application = application;
  }

  @Test
  void instanceThatIsKilled_isFollowedByTheOther_inItsRequest_andItsJobs(@TempDir Path folder)
      throws Exception {
    Diary diary = Diary.ofATest(folder.resolve("diary"));
    try (ChildJvm a = start("a", diary);
        ChildJvm b = start("b", diary)) {
      eventually(() -> Stream.of("a", "b").anyMatch(each -> !diary.of(each, "stays").isEmpty()));
      Waiting waiting = diary.waiting().orElseThrow();
      String killed = waiting.forWhom();
      String other = killed.equals("a") ? "b" : "a";
      diary.add("hang", killed);
      var first = WebInstance.sendAsync(payment(diary, killed));
      eventually(() -> Set.copyOf(diary.of(killed, "hangs")).equals(Set.of("payment", "sweep")));
      assertThat(first).isNotDone();
      diary.add("take-over", other);
      final int sweeps = diary.of(other, "sweeps").size();

      (killed.equals("a") ? a : b).kill();

      Set<Integer> seen = new HashSet<>();
      eventually(
          () -> {
            int status = answer(diary, other).statusCode();
            seen.add(status);
            return status == 201;
          });
      assertThat(seen).as("it is busy until its lease is over").isSubsetOf(409, 201);
      HttpResponse<String> again = answer(diary, other);
      assertThat(again.statusCode()).isEqualTo(201);
      assertThat(WebInstance.isReplayed(again)).isTrue();
      eventually(() -> diary.of(other, "Ran").contains(waiting.fireTime()));
      eventually(() -> diary.of(other, "sweeps").size() > sweeps);
      assertThat(diary.of(killed, "pays")).hasSize(1);
      assertThat(diary.of(other, "pays")).hasSize(1);
      assertThat(diary.ran().values()).containsOnly(1L);
    }
  }

  private static HttpRequest.Builder payment(Diary diary, String instance) {
    int port = Integer.parseInt(diary.of(instance, "listens").getFirst());
    return new WebInstance(port).to("/payments", "key").POST(BodyPublishers.ofString("100 EUR"));
  }

  /** What it answers once the store answers it in time: before, it is 503. */
  private static HttpResponse<String> answer(Diary diary, String instance) {
    return patiently()
        .until(
            () -> WebInstance.send(payment(diary, instance)), answer -> answer.statusCode() != 503);
  }

  private static void eventually(Callable<Boolean> holds) {
    patiently().until(holds);
  }

  private static ConditionFactory patiently() {
    return Awaitility.await().pollInterval(Duration.ofMillis(50)).atMost(LIMIT);
  }

  private ChildJvm start(String instance, Diary diary) {
    ChildJvm started = application.start(instance, diary);
    started.awaitReady("listening", () -> !diary.of(instance, "listens").isEmpty(), LIMIT);
    return started;
  }
}
