package example.claims;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.lock.mutex.Mutex;
import java.time.Duration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Bills each customer once a month, however many hosts run this each night. */
final class NightlyBilling {
  private NightlyBilling() {}

  public static void main(String[] args) throws InterruptedException {
    var time = TimeSource.system();
    var settings = ClaimSettings.of("billing", "host-" + ProcessHandle.current().pid());
    try (var client = DynamoDbTable.configure(DynamoDbClient.builder(), settings).build()) {
      new DynamoDbTable(client, "firstclaim").create();
      var store = DynamoDbClaimStore.open(client, "firstclaim", settings, time);
      var deduplicator = Deduplicator.builder(store, time).build();
      var mutex = new Mutex(store, RecordId.of("nightly run"), time);
      try (var held = mutex.acquire(Duration.ofMinutes(1)).orElseThrow()) {
        for (String customer : args) {
          held.ensureHeld();
          RunResult result =
              deduplicator.run(
                  RecordId.of("2026-11/" + customer),
                  Fingerprint.none(),
                  lease -> "invoice of %s, token %d".formatted(customer, lease.token()));
          System.out.println(customer + ": " + result);
        }
      }
    }
  }
}
