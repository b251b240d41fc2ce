package io.firstclaim.lock.dynamodb;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbServiceClientConfiguration;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementError;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.DeleteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.DeleteItemResponse;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableRequest;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableResponse;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.GetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.PutItemResponse;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemResponse;

/**
 * A client of a real server, with faults in its batches: of whole requests, and of single
 * statements, which a proxy that knows bytes only cannot make.
 */
final class FaultyClient implements DynamoDbClient {
  /** What becomes of a statement. */
  sealed interface Fate {
    /** It is applied, if its condition holds, and answered. */
    record Sent() implements Fate {}

    /** It is not applied, and answered with this code. */
    record Failed(String code) implements Fate {}

    /** It is not applied, and answered as if it were. */
    record Ignored() implements Fate {}

    /** It is applied, and answered with this code. */
    record AppliedBut(String code) implements Fate {}
  }

  /** What becomes of a request. */
  enum Request {
    ANSWERED,
    /** Applied, and not answered. */
    LOST,
    /** The first half of its statements is applied, and nothing is answered. */
    HALF,
    /** It never arrives. */
    NOT_SENT,
    /** The answers to those of its statements that failed are missing. */
    SHORT
  }

  static final Fate SENT = new Fate.Sent();

  private final DynamoDbClient real;
  private final Queue<Integer> batches = new ConcurrentLinkedQueue<>();
  private final Queue<String> singles = new ConcurrentLinkedQueue<>();
  private volatile Runnable before = () -> {};
  private volatile UnaryOperator<Request> request = sent -> sent;
  private volatile UnaryOperator<Request> single = sent -> sent;
  private volatile Optional<String> refusal = Optional.empty();
  private volatile IntFunction<Fate> fate = _ -> SENT;

  FaultyClient(DynamoDbClient real) {
    this.real = real;
  }

  /** Runs this before each write, single or not. */
  void before(Runnable action) {
    before = action;
  }

  /** Applies this fault to all batches from now on. */
  void requests(Request what) {
    request = _ -> what;
  }

  void requests(UnaryOperator<Request> what) {
    request = what;
  }

  /**
   * Applies this fault to all single requests from now on; those that need not arrive as a whole
   * either do or do not.
   */
  void singleRequests(UnaryOperator<Request> what) {
    single = what;
  }

  /** Answers all batches from now on by this error; with null, as the server does. */
  void refusal(@Nullable String code) {
    refusal = Optional.ofNullable(code);
  }

  /** Chooses the fault of each statement of the batches from now on, by its place in the batch. */
  void statements(IntFunction<Fate> what) {
    fate = what;
  }

  /** How many statements each batch had. */
  List<Integer> batches() {
    return List.copyOf(batches);
  }

  /** The single requests so far, in the order in which they were sent. */
  List<String> singles() {
    return List.copyOf(singles);
  }

  void forget() {
    batches.clear();
    singles.clear();
  }

  @Override
  public BatchExecuteStatementResponse batchExecuteStatement(BatchExecuteStatementRequest asked) {
    List<BatchStatementRequest> statements = asked.statements();
    batches.add(statements.size());
    before.run();
    refusal.ifPresent(
        code -> {
          throw DynamoDbException.builder()
              .statusCode(400)
              .numAttempts(1)
              .awsErrorDetails(
                  AwsErrorDetails.builder()
                      .errorCode(code)
                      .errorMessage(
                          code.equals("ValidationException")
                              ? "Item size has exceeded the maximum"
                              : "by the test")
                      .build())
              .build();
        });
    return switch (request.apply(Request.ANSWERED)) {
      case ANSWERED -> answered(asked);
      case SHORT -> {
        BatchExecuteStatementResponse answer = answered(asked);
        yield answer.toBuilder()
            .responses(answer.responses().stream().filter(each -> each.error() == null).toList())
            .build();
      }
      case LOST -> {
        apply(asked, statements);
        throw SdkClientException.create("the answer is lost");
      }
      case HALF -> {
        apply(asked, statements.subList(0, statements.size() / 2));
        throw SdkClientException.create("half of it is lost");
      }
      case NOT_SENT -> throw SdkClientException.create("not sent");
    };
  }

  private List<BatchStatementResponse> apply(
      BatchExecuteStatementRequest asked, List<BatchStatementRequest> statements) {
    return statements.isEmpty()
        ? List.of()
        : real.batchExecuteStatement(asked.toBuilder().statements(statements).build()).responses();
  }

  private BatchExecuteStatementResponse answered(BatchExecuteStatementRequest asked) {
    List<Fate> fates = new ArrayList<>();
    List<BatchStatementRequest> applied = new ArrayList<>();
    for (int i = 0; i < asked.statements().size(); i++) {
      fates.add(fate.apply(i));
      switch (fates.get(i)) {
        case Fate.Sent() -> applied.add(asked.statements().get(i));
        case Fate.AppliedBut(String _) -> applied.add(asked.statements().get(i));
        case Fate.Failed(String _) -> {}
        case Fate.Ignored() -> {}
      }
    }
    var real = apply(asked, applied).iterator();
    List<BatchStatementResponse> answers = new ArrayList<>();
    for (Fate each : fates) {
      answers.add(
          switch (each) {
            case Fate.Sent() -> real.next();
            case Fate.Failed(String code) -> error(code);
            case Fate.Ignored() -> BatchStatementResponse.builder().build();
            case Fate.AppliedBut(String code) -> {
              real.next();
              yield error(code);
            }
          });
    }
    var answer = BatchExecuteStatementResponse.builder().responses(answers);
    answer.sdkHttpResponse(SdkHttpResponse.builder().statusCode(200).build());
    return answer.build();
  }

  private static BatchStatementResponse error(String code) {
    return BatchStatementResponse.builder()
        .error(BatchStatementError.builder().code(code).message("by the test").build())
        .build();
  }

  @Override
  public UpdateItemResponse updateItem(UpdateItemRequest asked) {
    singles.add("UpdateItem");
    before.run();
    return alone(() -> real.updateItem(asked));
  }

  @Override
  public PutItemResponse putItem(PutItemRequest asked) {
    singles.add("PutItem");
    before.run();
    return alone(() -> real.putItem(asked));
  }

  @Override
  public GetItemResponse getItem(GetItemRequest asked) {
    singles.add("GetItem");
    return alone(() -> real.getItem(asked));
  }

  private <T> T alone(Supplier<T> sent) {
    return switch (single.apply(Request.ANSWERED)) {
      case ANSWERED -> sent.get();
      case NOT_SENT, HALF -> throw SdkClientException.create("not sent");
      case LOST, SHORT -> {
        var _ = sent.get();
        throw SdkClientException.create("the answer is lost");
      }
    };
  }

  @Override
  public DeleteItemResponse deleteItem(DeleteItemRequest asked) {
    return real.deleteItem(asked);
  }

  @Override
  public DescribeTableResponse describeTable(DescribeTableRequest asked) {
    return real.describeTable(asked);
  }

  @Override
  public DynamoDbServiceClientConfiguration serviceClientConfiguration() {
    return real.serviceClientConfiguration();
  }

  @Override
  public String serviceName() {
    return real.serviceName();
  }

  @Override
  public void close() {}
}
