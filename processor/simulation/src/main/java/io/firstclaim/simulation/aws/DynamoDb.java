package io.firstclaim.simulation.aws;

import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import io.firstclaim.stack.standin.DynamoDbInMemory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * DynamoDB: its operations, the conflicts of its transactions, the throttling of a request or of
 * one statement among many, its own faults, and its machines, whose clocks differ. The product's
 * own SDK asks it.
 */
public final class DynamoDb implements Service {
  private static final Pattern WRITE = Pattern.compile(".*\\.(PutItem|UpdateItem|DeleteItem)");

  private static final Duration AT_ONCE = Duration.ofMillis(10);

  private final World world;
  private final Wire wire;
  private final StoreEvents listener;
  private final DynamoDbInMemory tables;
  private final Duration mostSkew;
  private final Map<String, Duration> inTransactions = new LinkedHashMap<>();
  private double throttled;
  private @Nullable Machine asking;
  private List<Map<String, String>> taken = new ArrayList<>();

  /**
   * No tables, and all is well.
   *
   * @param mostSkew how much any two of its machines' clocks differ at most
   */
  public DynamoDb(World world, Wire wire, StoreEvents listener, Duration mostSkew) {
    this.world = world;
    this.wire = wire;
    this.listener = listener;
    this.mostSkew = mostSkew;
    this.tables = new DynamoDbInMemory((_, before, after) -> wrote(before, after));
  }

  private void wrote(Map<String, String> before, Map<String, String> after) {
    if (asking != null) {
      listener.wrote(asking.name(), before, after);
      taken.add(after);
    }
  }

  /** How many of a hundred requests are throttled. */
  public void setThrottled(double share) {
    throttled = share;
  }

  /** A client on a machine, made as the product makes its own but for the network beneath. */
  public DynamoDbClient client(Machine machine) {
    return DynamoDbClient.builder()
        .region(Region.EU_CENTRAL_1)
        .endpointOverride(URI.create("http://dynamodb"))
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("simulated", "simulated")))
        .httpClient(new SimulatedHttp(machine, wire, this))
        .overrideConfiguration(
            override ->
                override.scheduledExecutorService(
                    Executors.newScheduledThreadPool(1, Thread.ofVirtual().factory())))
        .build();
  }

  @Override
  public Answer answer(Wire.Request request) {
    String target = request.headers().getOrDefault("X-Amz-Target", List.of("")).getFirst();
    requireCondition(request, target);
    taken = new ArrayList<>();
    if (world.chance(throttled)) {
      listener.fault("throttled");
      return refused("ThrottlingException", "Rate exceeded");
    }
    asking = request.from();
    Answer answer;
    try {
      answer = served(request, target);
    } finally {
      asking = null;
    }
    List<Map<String, String>> took = taken;
    if (target.endsWith(".TransactWriteItems")) {
      took.forEach(each -> inTransactions.put(each.getOrDefault("pk", ""), world.elapsed()));
    }
    if (!took.isEmpty() && world.chance(throttled / 2)) {
      listener.fault("internal error after the write");
      listener.answerLost(request.from().name(), took);
      return answer(500, tables.refused("InternalServerError", "simulated").body());
    }
    return answer.missedBy(() -> listener.answerLost(request.from().name(), took));
  }

  private Answer served(Wire.Request request, String target) {
    String body = new String(request.body(), StandardCharsets.UTF_8);
    if (target.endsWith(".BatchExecuteStatement")) {
      Answer answer =
          BatchFaults.answer(
              request.body(), this::faultOfAStatement, left -> tables.answer(target, left));
      if (isHalfRefused(answer.body())) {
        listener.reached("batches half refused");
      }
      return answer(answer.status(), answer.body());
    }
    boolean isTransaction = target.endsWith(".TransactWriteItems");
    if ((isTransaction || WRITE.matcher(target).matches()) && isInConflict(body)) {
      listener.reached("conflicts");
      return isTransaction
          ? answer(400, BatchFaults.cancelled(request.body()))
          : refused("TransactionConflictException", "Transaction is ongoing for the item");
    }
    DynamoDbInMemory.Answer answer = tables.answer(target, request.body());
    return answer(answer.status(), answer.body());
  }

  private Optional<String> faultOfAStatement(String statement) {
    if (isInConflict(statement)) {
      listener.reached("conflicts");
      return Optional.of("TransactionConflict");
    }
    if (world.chance(5 * throttled)) {
      listener.fault("statement throttled");
      return Optional.of("ThrottlingError");
    }
    return Optional.empty();
  }

  /** Whoever writes what a transaction has just written may be told that it is still under way. */
  private boolean isInConflict(String body) {
    Duration now = world.elapsed();
    inTransactions.values().removeIf(at -> now.minus(at).compareTo(AT_ONCE) > 0);
    return inTransactions.keySet().stream().anyMatch(body::contains) && world.chance(0.3);
  }

  private Answer refused(String type, String message) {
    DynamoDbInMemory.Answer answer = tables.refused(type, message);
    return answer(answer.status(), answer.body());
  }

  private Answer answer(int status, byte[] body) {
    CRC32 checksum = new CRC32();
    checksum.update(body);
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Content-Type", DynamoDbInMemory.JSON);
    headers.put("Content-Length", Integer.toString(body.length));
    headers.put(
        "Date",
        DateTimeFormatter.RFC_1123_DATE_TIME.format(timeOfAMachine().atOffset(ZoneOffset.UTC)));
    headers.put("x-amz-crc32", Long.toString(checksum.getValue()));
    headers.put("x-amzn-RequestId", Long.toString(world.steps()));
    return new Answer(status, headers, body);
  }

  /** The clocks of its machines differ. */
  private Instant timeOfAMachine() {
    return world.now().plus(world.upTo(mostSkew)).minus(mostSkew.dividedBy(2));
  }

  private static boolean isHalfRefused(byte[] answer) {
    String body = new String(answer, StandardCharsets.UTF_8);
    int refused = body.split("\"Error\":", -1).length - 1;
    int all = body.split("\"TableName\":", -1).length - 1;
    return refused > 0 && refused < all;
  }

  /** Whoever writes without a condition may overwrite what was written after he looked. */
  private void requireCondition(Wire.Request request, String target) {
    String body = new String(request.body(), StandardCharsets.UTF_8);
    if (WRITE.matcher(target).matches() && !body.contains("\"ConditionExpression\"")) {
      listener.wroteWithoutCondition(request.from().name(), target);
    }
  }
}
