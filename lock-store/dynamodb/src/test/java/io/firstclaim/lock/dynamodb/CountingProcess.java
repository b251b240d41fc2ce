package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.Deduplicator.Completion;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.lock.deduplicator.RunResult;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/**
 * A process that counts records: each adds one to its counter, in the transaction that completes
 * it. Ends when all are done, by whomever. Its arguments are the endpoint, the namespace, its own
 * name, and how many records there are.
 */
final class CountingProcess {
  static final int COUNTERS = 7;

  /** What the process prints before its first record. */
  static final String COUNTING = "counting";

  private static final int AT_ONCE = 8;

  /** A lease may be over before what was done under it, on a busy machine again and again. */
  private static final RetryPolicy FOR_EVER =
      new RetryPolicy(Integer.MAX_VALUE, RetryPolicy.DEFAULT.backoff());

  private CountingProcess() {}

  static ClaimSettings settings(String namespace, String holder) {
    return new ClaimSettings(
        namespace, holder, Duration.ofSeconds(3), Duration.ofMillis(500), Duration.ofDays(8));
  }

  static String counter(String namespace, int number) {
    return namespace + "/counter-" + number % COUNTERS;
  }

  public static void main(String[] args) throws Exception {
    TimeSource time = TimeSource.system();
    String namespace = args[1];
    List<Integer> numbers =
        new ArrayList<>(IntStream.range(0, Integer.parseInt(args[3])).boxed().toList());
    Collections.shuffle(numbers);
    try (DynamoDbClient client = LocalDynamoDb.builder(URI.create(args[0])).build();
        var threads = Executors.newFixedThreadPool(AT_ONCE)) {
      ClaimStore store = LocalDynamoDb.store(client, settings(namespace, args[2]), time);
      Deduplicator once = Deduplicator.builder(store, time).retry(FOR_EVER).build();
      System.out.println(COUNTING);
      List<Callable<Boolean>> work = new ArrayList<>();
      numbers.forEach(number -> work.add(() -> count(once, namespace, number, time)));
      for (Future<Boolean> counted : threads.invokeAll(work)) {
        counted.get();
      }
    }
  }

  private static boolean count(Deduplicator once, String namespace, int number, TimeSource time)
      throws InterruptedException {
    while (true) {
      RunResult result;
      try {
        result =
            once.runWithEffects(
                RecordId.of("record-" + number),
                Fingerprint.none(),
                _ -> new Completion(null, increment(counter(namespace, number))));
      } catch (StoreUnavailableException e) {
        continue;
      }
      switch (result) {
        case RunResult.Ran _ -> {
          return true;
        }
        case RunResult.DoneBefore _ -> {
          return false;
        }
        case RunResult.Busy busy -> time.sleep(busy.remaining().dividedBy(4).plusMillis(10));
        default -> time.sleep(Duration.ofMillis(50));
      }
    }
  }

  private static DynamoDbEffects increment(String counter) {
    return DynamoDbEffects.of(
        TransactWriteItem.builder()
            .update(
                update ->
                    update
                        .tableName(LocalDynamoDb.TABLE)
                        .key(Map.of(Items.KEY, Items.text(counter)))
                        .updateExpression("ADD counted :one")
                        .expressionAttributeValues(Map.of(":one", Items.number(1))))
            .build());
  }
}
