package io.firstclaim.simulation.aws;

import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import io.firstclaim.stack.standin.DynamoDbInMemory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * DynamoDB: its operations, its clock, and the throttling of all or of one statement among many.
 * The product's own SDK asks it.
 */
public final class DynamoDb implements Service {
  private static final Pattern WRITE = Pattern.compile(".*\\.(PutItem|UpdateItem|DeleteItem)");

  private final World world;
  private final Wire wire;
  private final StoreEvents listener;
  private final DynamoDbInMemory tables;
  private double throttled;
  private @Nullable Machine asking;
  private List<Map<String, String>> taken = new ArrayList<>();

  /** No tables, and all is well. */
  public DynamoDb(World world, Wire wire, StoreEvents listener) {
    this.world = world;
    this.wire = wire;
    this.listener = listener;
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
    DynamoDbInMemory.Answer answer;
    if (world.chance(throttled)) {
      listener.fault("throttled");
      answer = tables.refused("ThrottlingException", "Rate exceeded");
    } else {
      asking = request.from();
      try {
        answer = tables.answer(target, request.body());
      } finally {
        asking = null;
      }
      if (isHalfRefused(target, answer)) {
        listener.reached("batches half refused");
      }
    }
    List<Map<String, String>> took = taken;
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Content-Type", DynamoDbInMemory.JSON);
    headers.put("Content-Length", Integer.toString(answer.body().length));
    headers.put(
        "Date", DateTimeFormatter.RFC_1123_DATE_TIME.format(world.now().atOffset(ZoneOffset.UTC)));
    headers.put("x-amz-crc32", Long.toString(answer.checksum()));
    headers.put("x-amzn-RequestId", Long.toString(world.steps()));
    return new Answer(
        answer.status(),
        headers,
        answer.body(),
        () -> listener.answerLost(request.from().name(), took));
  }

  private static boolean isHalfRefused(String target, DynamoDbInMemory.Answer answer) {
    if (!target.endsWith(".BatchExecuteStatement")) {
      return false;
    }
    String body = new String(answer.body(), StandardCharsets.UTF_8);
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
