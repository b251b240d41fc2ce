package io.firstclaim.lock.dynamodb;

import static java.util.Collections.frequency;
import static java.util.Collections.nCopies;
import static software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum.ACCESS_DENIED;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Moment;
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

  /** How many requests of one kind may be under way at once. */
  private static final int REQUESTS = 16;

  /** However few writes there are in a request: some never share one, such as those of several. */
  private static final int LEAST_AT_ONCE = ClaimStore.REQUESTS_AT_ONCE / 2;

  /** DynamoDB answers 25 statements within some tens of milliseconds. */
  static final Duration SLOW = Duration.ofMillis(100);

  /**
   * The longest result, in characters, of a write that is sent with others: a longer one would hold
   * them up.
   */
  private static final int LONG_RESULT = 4096;

  private static final Set<StoreOperation> STEPS =
      EnumSet.of(
          StoreOperation.RENEW,
          StoreOperation.COMPLETE,
          StoreOperation.RELEASE,
          StoreOperation.BURY);

  /**
   * Errors of a whole request which say that the table takes no statements, or not from this role.
   */
  private static final Set<String> MISSING =
      Set.of("AccessDeniedException", "UnknownOperationException", "ValidationException");

  /** The pause before a write that was throttled among others is sent alone. */
  private static final Backoff PAUSE = new Backoff(Duration.ofMillis(20), Duration.ofMillis(20));

  private final ClaimItems items;
  private final int most;
  private final GroupCommit<Statement, Reply> claims;
  private final GroupCommit<Statement, Reply> renewals;
  private final GroupCommit<Statement, Reply> settlements;
  private final FirstClaims firstClaims = new FirstClaims();

  private final StatementSupport support;

  /** A conditional write, and how it is made by a single request. */
  private record Statement(
      StoreOperation op,
      String key,
      Supplier<BatchStatementRequest> text,
      Supplier<Write> single) {}

  /** What a reply to a statement says of its write. */
  private sealed interface Reply {
    /** What became of it. */
    record Known(Write write) implements Reply {}

    /** Its condition failed. */
    record ConditionFailed() implements Reply {}

    /** Nothing that could be relied on: it is to be sent by a request of its own. */
    record SendAlone() implements Reply {}

    /** The store has too much to do: it is to be sent by a request of its own, after a pause. */
    record SendAloneLater() implements Reply {}

    /** There was no reply to its request. */
    record None(StoreUnavailableException fault) implements Reply {}
  }

  private static final Reply TOOK = new Reply.Known(new Write.Took(null));
  private static final Reply CONDITION_FAILED = new Reply.ConditionFailed();
  private static final Reply SEND_ALONE = new Reply.SendAlone();
  private static final Reply SEND_ALONE_LATER = new Reply.SendAloneLater();

  /**
   * These items.
   *
   * @param most writes in one request, 2 to 25
   * @param least writes in one request: 2, or 1 to have even single ones sent as statements
   */
  BatchedItems(ClaimItems items, int most, int least) {
    this(items, most, least, SLOW, items.settings().storeTimeout().multipliedBy(2));
  }

  /**
   * The same.
   *
   * @param slow how long a request is under way before another leaves that is not full
   * @param patience how long a write may stand in line, and its request be under way, together
   */
  BatchedItems(ClaimItems items, int most, int least, Duration slow, Duration patience) {
    this.items = items;
    this.most = most;
    this.support = new StatementSupport(items);
    var limits = new GroupCommit.Limits(most, least, REQUESTS, slow, patience);
    this.claims = new GroupCommit<>(limits, new StatementRequests());
    this.renewals = new GroupCommit<>(limits, new StatementRequests());
    this.settlements = new GroupCommit<>(limits, new StatementRequests());
  }

  /** What fills all requests of one kind: each then waits for one other request at most. */
  @Override
  public int writesAtOnce() {
    return support.isOn() ? Math.max(LEAST_AT_ONCE, REQUESTS * most) : ClaimStore.REQUESTS_AT_ONCE;
  }

  @Override
  public Write claim(Claim claim, ClaimRecord first, Moment now) {
    String key = items.keyText(claim.id());
    Supplier<Write> single = () -> items.claim(claim, first, now);
    boolean likelyFirst = claim.sighting() == null && firstClaims.isLikely(key);
    Write write =
        !likelyFirst || !support.isOnOrTriedAgain()
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
    if (on == null || large || !STEPS.contains(op) || !support.isOnOrTriedAgain()) {
      return single.get();
    }
    String key = items.keyText(id);
    if (op == StoreOperation.RELEASE) {
      firstClaims.found(key);
    }
    return made(
        wayOf(op),
        id,
        new Statement(
            op,
            key,
            () -> Statements.update(items.table(), items.item(id, next, now), on.claim()),
            single));
  }

  /**
   * The renewals of platform threads, which keep leases, have a way of their own. A virtual thread
   * that sends may be kept from its carrier by work that computes without end, and with it all that
   * it sends for; so it renews among the settlements.
   */
  private GroupCommit<Statement, Reply> wayOf(StoreOperation op) {
    return op == StoreOperation.RENEW && !Thread.currentThread().isVirtual()
        ? renewals
        : settlements;
  }

  private Write made(GroupCommit<Statement, Reply> way, RecordId id, Statement statement) {
    return switch (way.write(statement)) {
      case Reply.Known(Write write) -> write;
      case Reply.ConditionFailed() -> new Write.Differs(items.read(id).orElse(null));
      case Reply.SendAlone() -> statement.single.get();
      case Reply.SendAloneLater() -> {
        items.pause(PAUSE.after(1));
        yield statement.single.get();
      }
      case Reply.None(StoreUnavailableException fault) ->
          throw new StoreUnavailableException(String.valueOf(fault.getMessage()), fault);
    };
  }

  /** The requests of one kind: claims, renewals or settlements. */
  private final class StatementRequests implements GroupCommit.Requests<Statement, Reply> {
    /**
     * Every statement of the last request was denied. If all of the next are too, that is no
     * chance.
     */
    private volatile boolean deniedBefore;

    @Override
    public Object key(Statement statement) {
      return statement.key;
    }

    @Override
    public Reply alone(Statement statement) {
      return new Reply.Known(statement.single.get());
    }

    @Override
    public Reply brokenOff() {
      return SEND_ALONE;
    }

    @Override
    public List<Reply> together(List<Statement> statements) {
      if (!support.isOn()) {
        return nCopies(statements.size(), SEND_ALONE);
      }
      StoreOperation op = statements.getFirst().op;
      List<BatchStatementRequest> texts =
          statements.stream().map(statement -> statement.text.get()).toList();
      try {
        List<Reply> replies = replies(texts.size(), items.call(op, () -> send(texts)));
        int refused = frequency(replies, CONDITION_FAILED);
        items.listener().wrote(op, frequency(replies, TOOK) + refused);
        items.listener().refused(op, refused);
        return replies;
      } catch (StoreRefusedException | IllegalArgumentException e) {
        return nCopies(
            statements.size(),
            SEND_ALONE); // a request of its own says which of them is refused, and why
      } catch (StoreUnavailableException e) {
        boolean brokenOff = !support.isOn() || Thread.currentThread().isInterrupted();
        return nCopies(statements.size(), brokenOff ? SEND_ALONE : new Reply.None(e));
      }
    }

    private List<Reply> replies(int statements, BatchExecuteStatementResponse response) {
      if (response.responses().size() != statements) {
        return nCopies(
            statements, SEND_ALONE); // it is not known which answer belongs to which statement
      }
      List<Reply> replies = new ArrayList<>();
      int denied = 0;
      String why = "";
      for (BatchStatementResponse each : response.responses()) {
        BatchStatementError error = each.error();
        replies.add(error == null ? TOOK : reply(error));
        if (error != null && Statements.code(error) == ACCESS_DENIED) {
          denied++;
          why = String.valueOf(error.message());
        }
      }
      boolean allDenied = denied == statements;
      if (allDenied && deniedBefore) {
        support.turnOff("AccessDenied " + why);
      }
      deniedBefore = allDenied;
      return replies;
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
        support.turnOff(Faults.inOneLine(e));
      }
      throw e;
    }
  }

  /** A code that is not among these says nothing of who has the record. */
  private static Reply reply(BatchStatementError error) {
    return switch (Statements.code(error)) {
      case CONDITIONAL_CHECK_FAILED, DUPLICATE_ITEM -> CONDITION_FAILED;
      case ACCESS_DENIED, RESOURCE_NOT_FOUND, VALIDATION_ERROR -> SEND_ALONE;
      case ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED,
          REQUEST_LIMIT_EXCEEDED,
          PROVISIONED_THROUGHPUT_EXCEEDED,
          TRANSACTION_CONFLICT,
          THROTTLING_ERROR,
          INTERNAL_SERVER_ERROR,
          UNKNOWN_TO_SDK_VERSION ->
          SEND_ALONE_LATER;
    };
  }

  /**
   * These items, once the table has been tried: if it takes no statements, all writes are single.
   */
  BatchedItems tried() {
    support.tryNow();
    return this;
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
