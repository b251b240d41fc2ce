package io.firstclaim.processor.service.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.SideClients;
import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.engine.api.LetterHeaders;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.ActMessage.End;
import io.firstclaim.processor.service.acts.Range;
import io.firstclaim.processor.service.acts.RedriveCounts;
import io.firstclaim.processor.service.acts.RedriveSpec;
import io.firstclaim.processor.service.acts.RedriveSpec.Selection;
import io.firstclaim.processor.service.acts.TestSideClients;
import io.firstclaim.processor.service.redrive.Job.State;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The work on a redrive, on claims in memory, by a clock that the test drives. */
class RedriveRunTest {
  private static final String JOB = "job-1";
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final Selection ALL = new Selection.Filter("orders", null, null, null);

  /** Sleeping passes the time, and nothing else does. */
  private static final class Clock implements TimeSource {
    private Duration passed = Duration.ZERO;
    private Duration until = Duration.ofDays(1);

    private boolean isOver() {
      return passed.compareTo(until) >= 0;
    }

    @Override
    public Moment now() {
      return new Moment(Instant.parse("2026-01-01T00:00:00Z").plus(passed), passed.toNanos());
    }

    @Override
    public void sleep(Duration duration) {
      passed = passed.plus(duration);
    }
  }

  private final Clock clock = new Clock();
  private final MemoryClaimStore claims =
      new MemoryClaimStore(ClaimSettings.of("orders", "a/one"), clock);
  private final List<ConsumerRecord<byte[], byte[]>> topic = new ArrayList<>();
  private final List<String> published = new ArrayList<>();
  private JobBook book = new JobBook();

  /** What becomes of a published record. */
  private Consumer<RecordId> downstream = this::complete;

  /** The claims as they are, but that somebody has overwritten some. */
  private final ClaimOperations operations =
      new ClaimOperations() {
        @Override
        public Optional<ClaimRecord> find(RecordId id) {
          if (overwritten.contains(id)) {
            throw new UnreadableClaimException("claim of " + id + " cannot be read");
          }
          return claims.find(id);
        }

        @Override
        public ReleaseResult release(RecordId id, String reason) {
          return claims.release(id, reason);
        }

        @Override
        public ReleaseResult release(RecordId id, long token, String reason) {
          return claims.release(id, token, reason);
        }

        @Override
        public RedriveResult redrive(
            RecordId id, Fingerprint payload, RedriveId by, @Nullable String reason) {
          return claims.redrive(id, payload, by, reason);
        }

        @Override
        public boolean undoRedrive(
            RecordId id, RedriveId by, long token, int attempts, ClaimState.Dead end) {
          return claims.undoRedrive(id, by, token, attempts, end);
        }
      };

  private final Set<RecordId> overwritten = new HashSet<>();
  private final Set<RecordId> dismissed = new HashSet<>();
  private int lettersLeft = Integer.MAX_VALUE;
  private @Nullable RuntimeException publishFault;
  private @Nullable Runnable whilePublishing;

  private Lease claim(RecordId id) {
    return ((ClaimResult.Granted) claims.claim(Claim.of(id, payload(id), clock.now()))).lease();
  }

  private static Fingerprint payload(RecordId id) {
    return Fingerprint.of(("value of " + id).getBytes(UTF_8));
  }

  private void complete(RecordId id) {
    claims.complete(claim(id), null);
  }

  private void bury(RecordId id) {
    claims.bury(claim(id), "HTTP 422");
  }

  private void dead(String text) {
    RecordId id = RecordId.of(text);
    bury(id);
    letter(text, "value of " + text, "orders");
  }

  private void letter(String id, String value, String application) {
    RecordHeaders headers = new RecordHeaders();
    Map.of(
            LetterHeaders.ID, id,
            LetterHeaders.APPLICATION, application,
            LetterHeaders.TOPIC, "orders",
            LetterHeaders.PARTITION, "0",
            LetterHeaders.OFFSET, "7",
            LetterHeaders.ATTEMPTS, "5",
            LetterHeaders.ZONE, "a",
            LetterHeaders.CAUSE, "HTTP 422")
        .forEach((name, text) -> headers.add(name, text.getBytes(UTF_8)));
    topic.add(
        new ConsumerRecord<>(
            "orders.dlt",
            0,
            topic.size(),
            0L,
            TimestampType.CREATE_TIME,
            0,
            0,
            id.getBytes(UTF_8),
            value.getBytes(UTF_8),
            headers,
            Optional.empty()));
  }

  private List<Range> all() {
    return List.of(new Range("orders.dlt", 0, 0, topic.size()));
  }

  private Job begin(int limit) {
    RedriveSpec spec = RedriveSpec.of(ALL, limit, 1_000).withRanges(all());
    book.hear(new ActMessage.RedriveBegun(JOB, spec, "otto", "fixed", "now"));
    return job();
  }

  private Job job() {
    return book.get(JOB).orElseThrow();
  }

  /** A run by the next instance, which is where the last one was left. */
  private Job run() {
    return run(token -> report -> book.hear(progress(token, report)));
  }

  /** The same, reporting to what is made for its token. */
  private Job run(LongFunction<Consumer<RunReport>> reporting) {
    long token = job().token() + 1;
    book.hear(new ActMessage.RedriveTaken(JOB, token, "a/one", "now"));
    Job job = job();
    try {
      LetterSteps steps =
          new LetterSteps(
              job,
              letter -> letter.application().equals(Optional.of("orders")),
              dismissed::contains,
              operations,
              this::publish);
      new RedriveRun(
              job,
              new Given(job.position()),
              steps,
              () -> job().state() == State.RUNNING && lettersLeft > 0 && !clock.isOver(),
              reporting.apply(token),
              clock)
          .run();
      steps.leave();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return job();
  }

  private static ActMessage progress(long token, RunReport report) {
    return new ActMessage.RedriveProgress(
        JOB,
        token,
        "a/one",
        "now",
        report.position().range(),
        report.position().offset(),
        report.counts(),
        report.underWay(),
        report.note().orElse(null),
        report.end().orElse(null));
  }

  private void publish(DeadLetter letter, RedriveId by) {
    if (whilePublishing != null) {
      Runnable meanwhile = whilePublishing;
      whilePublishing = null;
      meanwhile.run();
    }
    if (publishFault != null) {
      RuntimeException fault = publishFault;
      publishFault = null;
      throw fault;
    }
    published.add(letter.id().text());
    downstream.accept(letter.id());
  }

  private final class Given implements Letters.Reading {
    private final int range;
    private long offset;

    private Given(Position from) {
      this.range = from.range();
      this.offset = from.offset();
    }

    @Override
    public Letters.ReadResult next() {
      if (isAtEnd()) {
        return new Letters.ReadResult.Nothing();
      }
      lettersLeft--;
      Position at = position();
      return DeadLetter.read(topic.get((int) offset++))
          .<Letters.ReadResult>map(letter -> new Letters.ReadResult.Letter(at, letter))
          .orElseGet(Letters.ReadResult.PassedOver::new);
    }

    @Override
    public Position position() {
      return isAtEnd() ? new Position(1, 0) : new Position(range, offset);
    }

    @Override
    public boolean isAtEnd() {
      return range > 0 || offset >= job().spec().ranges().getFirst().to();
    }

    @Override
    public void close() {}
  }

  private ClaimState state(String id) {
    return claims.find(RecordId.of(id)).orElseThrow().state();
  }

  @Test
  void deadRecords_areFreedPublishedAndCompletedOnceMore() {
    for (int i = 0; i < 250; i++) {
      dead("r" + i);
    }
    begin(1_000);

    Job done = run();

    assertThat(done.state()).isEqualTo(State.DONE);
    assertThat(done.counts()).isEqualTo(new RedriveCounts(250, 250, 0, 0, 0, Map.of()));
    assertThat(published).hasSize(250).doesNotHaveDuplicates();
    assertThat(state("r249")).isInstanceOf(ClaimState.Done.class);
  }

  @Test
  void claimThatIsOverwrittenMeanwhile_holdsUpNoOther() {
    dead("r0");
    dead("r1");
    dead("r2");
    downstream =
        id -> {
          if (id.text().equals("r1")) {
            overwritten.add(id);
          } else {
            complete(id);
          }
        };
    begin(1_000);

    Job done = run();

    assertThat(done.state()).isEqualTo(State.DONE);
    assertThat(done.counts().completed()).isEqualTo(2);
  }

  @Test
  void whateverDiesWhereever_eachIsCompletedOnceMore() {
    for (int i = 0; i < 60; i++) {
      dead("r" + i);
    }
    begin(1_000);

    for (int deaths = 0; deaths < 200 && job().state() == State.RUNNING; deaths++) {
      lettersLeft = 7;
      run();
    }

    assertThat(job().state()).isEqualTo(State.DONE);
    assertThat(job().counts()).isEqualTo(new RedriveCounts(60, 60, 0, 0, 0, Map.of()));
    assertThat(published).hasSize(60).doesNotHaveDuplicates();
  }

  @Test
  void recordFreedButNotPublished_isPublishedByTheNext() {
    dead("r");
    begin(10);
    var _ = claims.redrive(RecordId.of("r"), payload(RecordId.of("r")), new RedriveId(JOB));

    assertThat(run().counts().completed()).isEqualTo(1);
    assertThat(published).containsExactly("r");
  }

  @Test
  void whatIsNotDeadOrNotOurs_isPassedOver_byReason() {
    dead("done by now");
    var _ =
        claims.redrive(
            RecordId.of("done by now"), payload(RecordId.of("done by now")), RedriveId.random());
    complete(RecordId.of("done by now"));
    letter("nobody knows", "x", "orders");
    dead("of others");
    letter("of others", "another payload", "orders");
    dead("theirs");
    topic.removeLast();
    letter("theirs", "value of theirs", "billing");
    dead("twice");
    letter("twice", "value of twice", "orders");
    begin(10);

    Job done = run();

    assertThat(done.counts().skipped())
        .isEqualTo(
            Map.of(
                "done", 1L,
                "forgotten", 1L,
                "another letter of the same record", 2L,
                "of another application", 1L));
    assertThat(published).containsExactly("of others", "twice");
    assertThat(state("theirs")).isInstanceOf(ClaimState.Dead.class);
  }

  @Test
  void whatWasDismissed_isPassedOverAmongMany_andMovedAsTheOnlyOne() {
    dead("needless");
    dead("r");
    dismissed.add(RecordId.of("needless"));
    begin(10);

    assertThat(run().counts().skipped()).isEqualTo(Map.of("dismissed", 1L));
    assertThat(published).containsExactly("r");

    RedriveSpec one = RedriveSpec.ofRecord("needless").withRanges(all());
    JobBook fresh = new JobBook();
    fresh.hear(new ActMessage.RedriveBegun(JOB, one, "otto", "it was not", "now"));
    book = fresh;
    assertThat(run().counts().completed()).isEqualTo(1);
    assertThat(published).containsExactly("r", "needless");
  }

  @Test
  void otherPayload_isAMismatch() {
    bury(RecordId.of("r"));
    letter("r", "another payload", "orders");
    begin(10);

    assertThat(run().counts().skipped()).isEqualTo(Map.of("mismatch", 1L));
    assertThat(published).isEmpty();
  }

  @Test
  void redriveStopsByItself_whenMostDieAgain_andGoesOnWhenResumed() {
    for (int i = 0; i < 100; i++) {
      dead("r" + i);
    }
    downstream = this::bury;
    begin(1_000);

    Job stopped = run();

    assertThat(stopped.state()).isEqualTo(State.STOPPED);
    assertThat(stopped.note()).contains("of the last 20 died again").contains("HTTP 422");
    assertThat(published).hasSize(RedrivePace.WINDOW);
    assertThat(stopped.counts().diedAgain()).isEqualTo(20);

    downstream = this::complete;
    book.hear(new ActMessage.RedriveTold(JOB, ActMessage.Command.RESUME, "otto", "now", "now"));
    Job done = run();

    assertThat(done.state()).isEqualTo(State.DONE);
    assertThat(done.counts()).isEqualTo(new RedriveCounts(100, 80, 20, 0, 0, Map.of()));
  }

  @Test
  void nothingMoves_beforeTheFirstVerdicts() {
    for (int i = 0; i < 100; i++) {
      dead("r" + i);
    }
    downstream = id -> {}; // nobody takes it up
    begin(1_000);
    clock.until = Duration.ofMinutes(5);

    assertThat(run().state()).isEqualTo(State.RUNNING);

    assertThat(published).hasSize(RedrivePace.WINDOW);
  }

  @Test
  void limit_boundsWhatIsMoved_notWhatIsPassedOver() {
    letter("nobody knows", "x", "orders");
    dead("r1");
    dead("r2");
    dead("r3");
    begin(2);

    assertThat(run().state()).isEqualTo(State.DONE);
    assertThat(published).containsExactly("r1", "r2");
  }

  @Test
  void kafkaThatDoesNotAnswer_isWaitedFor_andNothingIsLost() {
    dead("r1");
    dead("r2");
    begin(10);
    publishFault = new KafkaException("no leader");

    Job done = run();

    assertThat(done.counts()).isEqualTo(new RedriveCounts(2, 2, 0, 0, 0, Map.of()));
    assertThat(published).containsExactly("r1", "r2");
  }

  @Test
  void recordThatCannotBePublished_isCountedAsFailed_andTheOthersGoOn() {
    dead("r1");
    dead("r2");
    begin(10);
    publishFault = new UnpublishableException("too large");

    Job done = run();

    assertThat(done.counts()).isEqualTo(new RedriveCounts(1, 1, 0, 0, 1, Map.of()));
    assertThat(done.note()).isEqualTo("r1 cannot be published: too large");
    assertDeadAsItWas("r1");
  }

  private void assertDeadAsItWas(String id) {
    ClaimRecord claim = claims.find(RecordId.of(id)).orElseThrow();
    assertThat(claim.state()).isEqualTo(new ClaimState.Dead("a/", Instant.EPOCH, "HTTP 422"));
    assertThat(claim.attempts()).isEqualTo(5);
  }

  @Test
  void recordThatCannotBePublished_andWasClaimedMeanwhile_isLeftToWhoeverHasIt() {
    dead("r1");
    begin(10);
    whilePublishing =
        () -> {
          complete(RecordId.of("r1"));
          throw new UnpublishableException("too large");
        };

    assertThat(run().counts()).isEqualTo(new RedriveCounts(1, 1, 0, 0, 0, Map.of()));
    assertThat(state("r1")).isInstanceOf(ClaimState.Done.class);
  }

  @Test
  void recordFreedAndNotPublished_isDeadAgain_whenTheRedriveIsCancelled_andAnotherMovesIt() {
    dead("r1");
    begin(10);
    whilePublishing =
        () -> {
          tell(ActMessage.Command.CANCEL);
          throw new KafkaException("no leader");
        };

    assertThat(run().state()).isEqualTo(State.CANCELLED);

    assertThat(published).isEmpty();
    assertDeadAsItWas("r1");
    book = new JobBook();
    begin(10);
    assertThat(run().counts().completed()).isEqualTo(1);
  }

  @Test
  void recordFreedAndNotPublished_isDeadWhileTheRedriveIsPaused_andMovedOnceItGoesOn() {
    dead("r1");
    begin(10);
    whilePublishing =
        () -> {
          tell(ActMessage.Command.PAUSE);
          throw new KafkaException("no leader");
        };
    assertThat(run().state()).isEqualTo(State.PAUSED);
    assertDeadAsItWas("r1");

    tell(ActMessage.Command.RESUME);

    assertThat(run().counts()).isEqualTo(new RedriveCounts(1, 1, 0, 0, 0, Map.of()));
    assertThat(published).containsExactly("r1");
  }

  private void tell(ActMessage.Command command) {
    book.hear(new ActMessage.RedriveTold(JOB, command, "otto", "wait", "now"));
  }

  @Test
  void recordThatAnotherRedriveFreed_andNeverPublished_isTakenUp() {
    dead("r1");
    var _ =
        claims.redrive(RecordId.of("r1"), payload(RecordId.of("r1")), new RedriveId("died-since"));
    begin(10);

    assertThat(run().counts()).isEqualTo(new RedriveCounts(1, 1, 0, 0, 0, Map.of()));
    assertThat(published).containsExactly("r1");
  }

  @Test
  void recordThatTheStoreHasForgotten_isMovedAlone_byWhoeverSaysThatItMayBeDone() {
    letter("r1", "value of r1", "orders");
    letter("r2", "value of r2", "orders");
    begin(10);
    assertThat(run().counts().skipped()).isEqualTo(Map.of("forgotten", 2L));
    RedriveSpec known = RedriveSpec.ofRecord("r2").withRanges(all());
    assertThat(runOf(known).counts().skipped()).isEqualTo(Map.of("forgotten", 1L));
    assertThat(published).isEmpty();

    Job done = runOf(known.thatMayBeDone());

    assertThat(done.counts()).isEqualTo(new RedriveCounts(1, 1, 0, 0, 0, Map.of()));
    assertThat(published).containsExactly("r2");
    assertThatThrownBy(RedriveSpec.of(ALL, 1, 1)::thatMayBeDone)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("one by one");
  }

  private Job runOf(RedriveSpec spec) {
    book = new JobBook();
    book.hear(new ActMessage.RedriveBegun(JOB, spec, "otto", "mended", "2026-01-01T00:00:00Z"));
    return run();
  }

  @Test
  void recordsThatAreNamed_areMoved_evenIfTheyWereDismissed_andNoOthers() {
    for (int i = 0; i < 5; i++) {
      dead("r" + i);
    }
    dismissed.add(RecordId.of("r3"));

    Job done = runOf(RedriveSpec.ofIds(List.of("r3", "r1", "r1"), 10).withRanges(all()));

    assertThat(done.state()).isEqualTo(State.DONE);
    assertThat(published).containsExactly("r1", "r3");
  }

  @Test
  void redriveWithADelay_isDueThatLongAfterItsBeginning() {
    dead("r1");
    RedriveSpec later =
        RedriveSpec.ofRecord("r1").withRanges(all()).withDelay(Duration.ofMinutes(10));

    book.hear(new ActMessage.RedriveBegun(JOB, later, "otto", "mended", "2026-01-01T00:00:00Z"));

    assertThat(job().notBefore()).contains(Instant.parse("2026-01-01T00:10:00Z"));
  }

  @Test
  void rate_isKept() {
    for (int i = 0; i < 100; i++) {
      dead("r" + i);
    }
    RedriveSpec slow = RedriveSpec.of(ALL, 100, 10).withRanges(all());
    book.hear(new ActMessage.RedriveBegun(JOB, slow, "otto", "fixed", "now"));

    Duration before = clock.passed;
    run();

    assertThat(clock.passed.minus(before)).isBetween(Duration.ofSeconds(9), Duration.ofSeconds(13));
  }

  @Test
  void cancelledRedrive_tellsAllThatItHasMoved() {
    for (String id : List.of("r1", "r2", "r3")) {
      dead(id);
    }
    downstream =
        id -> {
          complete(id);
          if (id.text().equals("r3")) {
            tell(ActMessage.Command.CANCEL);
          }
        };
    begin(10);
    SideClients clients = TestSideClients.make();
    try (ActLog log = new ActLog(clients, "redrive-run-test", book::hear, TimeSource.system())) {
      log.start();
      await().atMost(PATIENCE).until(() -> log.fault().isEmpty());

      run(token -> new ProgressWriter(job(), token, "a/one", log, clock));

      await().atMost(PATIENCE).untilAsserted(() -> assertThat(job().underWay()).isEqualTo(3));
      assertThat(job().state()).isEqualTo(State.CANCELLED);
      assertThat(published).hasSize(3);
    }
  }

  @Test
  void runnerThatWasFollowed_saysNothingOfAccount() {
    dead("r");
    begin(10);
    book.hear(new ActMessage.RedriveTaken(JOB, 5, "b/one", "now"));
    book.hear(
        new ActMessage.RedriveProgress(
            JOB, 4, "a/one", "now", 1, 0, RedriveCounts.NONE, 0, null, End.DONE));

    assertThat(job().state()).isEqualTo(State.RUNNING);
    assertThat(job().instance()).isEqualTo("b/one");
  }

  @Test
  void redriveSentTwice_isOne() {
    dead("r");
    begin(10);
    run();
    Job again = begin(10);

    assertThat(again.state()).isEqualTo(State.DONE);
    assertThat(book.all()).hasSize(1);
  }
}
