package io.firstclaim.lock.dynamodb;

import static java.util.Collections.frequency;
import static java.util.Collections.nCopies;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.store.ClaimRecords;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementError;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

/**
 * The claims of a table, written in common requests where several come at once: <a
 * href="https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html">BatchExecuteStatement</a>,
 * in which each write has its own condition and its own answer. What meets a surprise there is
 * asked for on its own: a failed condition by a read, a write that was throttled, denied or not
 * understood by the single request. A request without an answer leaves each of its writes in doubt,
 * which the driver resolves by their nonces.
 *
 * <p>Claims, renewals and settlements leave in requests of their own, and none waits for those of
 * another kind. Thread-safe.
 */
final class BatchedItems implements ClaimRecords {
  /** DynamoDB takes no more statements in one request. */
  static final int MOST = DynamoDbClaimStore.BATCH;

  /** How long after it was seen to take no statements a table is tried again. */
  static final Duration AGAIN = Duration.ofMinutes(10);

  private static final Logger LOG = LoggerFactory.getLogger(BatchedItems.class);

  /** Requests of one kind under way at once. */
  private static final int REQUESTS = 16;

  /** DynamoDB answers 25 statements within some tens of milliseconds. */
  private static final Duration SLOW = Duration.ofMillis(100);

  /** Characters; a write with a longer result would hold up the others. */
  private static final int LONG_RESULT = 4096;

  private static final Set<StoreOperation> STEPS =
      EnumSet.of(
          StoreOperation.RENEW,
          StoreOperation.COMPLETE,
          StoreOperation.RELEASE,
          StoreOperation.BURY);

  /** Of a whole request: there is no such operation, or not for us. */
  private static final Set<String> MISSING =
      Set.of("AccessDeniedException", "UnknownOperationException", "ValidationException");

  /** Before a write is sent alone that was throttled among others. */
  private static final Backoff PAUSE = new Backoff(Duration.ofMillis(20), Duration.ofMillis(20));

  private final ClaimItems items;
  private final GroupCommit<Statement, Answer> claims;
  private final GroupCommit<Statement, Answer> renewals;
  private final GroupCommit<Statement, Answer> settlements;
  private final FirstClaims firstClaims = new FirstClaims();

  /** When the table was last seen to take no statements; null while it takes them. */
  private volatile @Nullable Moment off;

  /** It was seen to ignore conditions, so it is not tried again. */
  private volatile boolean offForGood;

  /** A conditional write, and how it is made by a single request. */
  private record Statement(
      StoreOperation op,
      String key,
      Supplier<BatchStatementRequest> text,
      Supplier<Write> single) {}

  /** What came of a statement. */
  private sealed interface Answer {
    /** It is known. */
    record Known(Write write) implements Answer {}

    /** Its condition failed. */
    record Failed() implements Answer {}

    /**
     * Nothing that could be relied on: it is to be sent alone.
     *
     * @param busy whether the store has too much to do
     */
    record Alone(boolean busy) implements Answer {}

    /** Its request was not answered. */
    record Silent(StoreUnavailableException fault) implements Answer {}
  }

  private static final Answer TOOK = new Answer.Known(new Write.Took(null));
  private static final Answer FAILED = new Answer.Failed();
  private static final Answer ALONE = new Answer.Alone(false);
  private static final Answer BUSY = new Answer.Alone(true);

  /**
   * These items.
   *
   * @param most writes in one request, 2 to 25
   * @param least writes in one request: 2, or 1 to have even single ones sent as statements
   */
  BatchedItems(ClaimItems items, int most, int least) {
    this(items, most, least, SLOW);
  }

  BatchedItems(ClaimItems items, int most, int least, Duration slow) {
    this.items = items;
    Duration patience = items.settings().storeTimeout().multipliedBy(2);
    var limits = new GroupCommit.Limits(most, least, REQUESTS, slow, patience);
    this.claims = new GroupCommit<>(limits, new Requests());
    this.renewals = new GroupCommit<>(limits, new Requests());
    this.settlements = new GroupCommit<>(limits, new Requests());
  }

  @Override
  public Write claim(Claim claim, ClaimRecord first, Moment now) {
    String key = items.keyText(claim.id());
    Supplier<Write> single = () -> items.claim(claim, first, now);
    boolean likelyFirst = claim.sighting() == null && firstClaims.isLikely(key);
    Write write =
        !likelyFirst || isOff()
            ? single.get()
            : made(
                claims,
                claim.id(),
                new Statement(
                    StoreOperation.CLAIM,
                    key,
                    () -> Statements.insert(items.table(), items.item(claim.id(), first, now)),
                    single));
    if (claim.sighting() == null) {
      firstClaims.answered(key, write instanceof Write.Took took && took.over() == null);
    }
    return write;
  }

  @Override
  public Write write(
      StoreOperation op, RecordId id, ClaimRecord next, @Nullable Stored on, Moment now) {
    Supplier<Write> single = () -> items.write(op, id, next, on, now);
    boolean large =
        next.state() instanceof Done done
            && done.result() != null
            && done.result().length() > LONG_RESULT;
    if (on == null || large || !STEPS.contains(op) || isOff()) {
      return single.get();
    }
    String key = items.keyText(id);
    if (op == StoreOperation.RELEASE) {
      firstClaims.found(key);
    }
    return made(
        op == StoreOperation.RENEW ? renewals : settlements,
        id,
        new Statement(
            op,
            key,
            () -> Statements.update(items.table(), items.item(id, next, now), on.claim()),
            single));
  }

  private Write made(GroupCommit<Statement, Answer> way, RecordId id, Statement statement) {
    return switch (way.write(statement)) {
      case Answer.Known(Write write) -> write;
      case Answer.Failed() -> new Write.Differs(items.read(id).orElse(null));
      case Answer.Alone(boolean busy) -> {
        if (busy) {
          items.pause(PAUSE.after(1));
        }
        yield statement.single.get();
      }
      case Answer.Silent(StoreUnavailableException fault) ->
          throw new StoreUnavailableException(String.valueOf(fault.getMessage()), fault);
    };
  }

  /** Those of one kind. */
  private final class Requests implements GroupCommit.Requests<Statement, Answer> {
    /** Each statement of the last one was denied; if all of the next are too, it is no chance. */
    private volatile boolean deniedBefore;

    @Override
    public Object key(Statement statement) {
      return statement.key;
    }

    @Override
    public Answer alone(Statement statement) {
      return new Answer.Known(statement.single.get());
    }

    @Override
    public Answer brokenOff() {
      return ALONE;
    }

    @Override
    public List<Answer> together(List<Statement> statements) {
      if (off != null) {
        return nCopies(statements.size(), ALONE);
      }
      StoreOperation op = statements.getFirst().op;
      List<BatchStatementRequest> texts =
          statements.stream().map(statement -> statement.text.get()).toList();
      try {
        List<Answer> answers = answers(texts.size(), items.call(op, () -> send(texts)));
        int refused = frequency(answers, FAILED);
        items.listener().wrote(op, frequency(answers, TOOK) + refused);
        items.listener().refused(op, refused);
        return answers;
      } catch (StoreRefusedException | IllegalArgumentException e) {
        return nCopies(statements.size(), ALONE); // which says whose it is, and why
      } catch (StoreUnavailableException e) {
        boolean brokenOff = off != null || Thread.currentThread().isInterrupted();
        return nCopies(statements.size(), brokenOff ? ALONE : new Answer.Silent(e));
      }
    }

    private List<Answer> answers(int statements, BatchExecuteStatementResponse response) {
      if (response.responses().size() != statements) {
        return nCopies(statements, ALONE); // nobody knows which is whose
      }
      List<Answer> answers = new ArrayList<>();
      int denied = 0;
      String why = "";
      for (BatchStatementResponse each : response.responses()) {
        BatchStatementError error = each.error();
        answers.add(error == null ? TOOK : answer(error));
        if (error != null && code(error).equals("AccessDenied")) {
          denied++;
          why = String.valueOf(error.message());
        }
      }
      boolean allDenied = denied == statements;
      if (allDenied && deniedBefore) {
        turnOff("AccessDenied " + why);
      }
      deniedBefore = allDenied;
      return answers;
    }
  }

  private BatchExecuteStatementResponse send(List<BatchStatementRequest> texts) {
    try {
      return items
          .client()
          .batchExecuteStatement(
              batch -> batch.statements(texts).overrideConfiguration(items.limits()));
    } catch (DynamoDbException e) {
      if (Faults.wasSentOnce(e) && MISSING.contains(Faults.code(e))) {
        turnOff(Faults.inOneLine(e));
      }
      throw e;
    }
  }

  /** A code that is not known here says nothing of who has the record. */
  private static Answer answer(BatchStatementError error) {
    return switch (code(error)) {
      case "ConditionalCheckFailed", "DuplicateItem" -> FAILED;
      case "AccessDenied", "ResourceNotFound", "ValidationError" -> ALONE;
      default -> BUSY;
    };
  }

  /** Some stores of their own write codes as if they were exceptions. */
  static String code(BatchStatementError error) {
    String code = String.valueOf(error.codeAsString());
    return code.endsWith("Exception") ? code.substring(0, code.length() - 9) : code;
  }

  /**
   * Tries whether the table takes statements; if not, all writes are single from now on. A trial
   * may fail by a lost answer or a throttled statement, so there are two.
   */
  BatchedItems tried() {
    trial().flatMap(unused -> trial()).ifPresent(this::turnOff);
    return this;
  }

  private Optional<String> trial() {
    StatementTrial trial = new StatementTrial(items);
    Optional<String> fault = trial.fault();
    offForGood = trial.brokeConditions();
    return fault;
  }

  private synchronized void turnOff(String why) {
    if (off == null) {
      off = items.time().now();
      LOG.warn(
          "DynamoDB table {} takes no statements, so each write is a request of its own: {}. Grant"
              + " dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate on it to have up to {} in one"
              + " request, or set the batch to 1",
          items.table(),
          OneLine.of(why),
          MOST);
    }
  }

  /** Whether all writes are single; has the table tried again now and then. */
  private boolean isOff() {
    if (off == null) {
      return false;
    }
    if (isDue()) {
      Thread unused = Thread.startVirtualThread(this::tryAgain); // nobody's write waits for it
    }
    return true;
  }

  private synchronized boolean isDue() {
    Moment now = items.time().now();
    Moment seen = off;
    boolean due = seen != null && !offForGood && now.since(seen).compareTo(AGAIN) >= 0;
    if (due) {
      off = now;
    }
    return due;
  }

  private void tryAgain() {
    try {
      Optional<String> fault = trial();
      if (fault.isEmpty()) {
        turnOn();
      } else {
        LOG.debug("DynamoDB table {} still takes no statements: {}", items.table(), fault.get());
      }
    } catch (RuntimeException e) {
      LOG.debug("Cannot try statements on DynamoDB table {} now", items.table(), e);
    }
  }

  private synchronized void turnOn() {
    off = null;
    LOG.info(
        "DynamoDB table {} takes statements again: up to {} writes leave in one request",
        items.table(),
        MOST);
  }

  @Override
  public Optional<Stored> read(RecordId id) {
    return items.read(id);
  }

  @Override
  public Optional<Together> together() {
    return items.together();
  }

  @Override
  public String identity() {
    return items.identity();
  }
}
