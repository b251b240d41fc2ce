package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ClockTortureContract;
import io.firstclaim.lock.testkit.ManualTime;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

class DynamoDbClockTortureTest extends ClockTortureContract {
  private final AtomicReference<ManualTime> now = new AtomicReference<>(ManualTime.start());
  private final DynamoDbClient client = LocalDynamoDb.dated(now::get);

  @AfterEach
  void close() {
    client.close();
  }

  @Override
  public ClaimStore store(ClaimSettings settings, TimeSource machine, ManualTime world) {
    now.set(world);
    return store(client, settings, machine);
  }

  ClaimStore store(DynamoDbClient to, ClaimSettings settings, TimeSource machine) {
    return LocalDynamoDb.datedStore(to, settings, machine);
  }

  @Override
  public boolean judgesByMachine() {
    return false;
  }

  @Override
  protected int histories() {
    return 10;
  }
}
