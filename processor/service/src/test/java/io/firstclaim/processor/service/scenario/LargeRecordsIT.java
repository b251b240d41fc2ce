package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Zones have 256 MB of heap; more than that is sent to them in records of 1 MB. */
class LargeRecordsIT {
  private static final String LARGE = "x".repeat(1_000_000);
  private static final int RECORDS = 300;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  @Test
  void moreThanFitsIntoMemory_isTakenInBitByBit_andAllOfItIsDone() {
    CountDownLatch mayEnd = new CountDownLatch(1);
    scenario
        .sink()
        .behave(
            _ -> {
              mayEnd.await();
              return 200;
            });
    Zone zone = scenario.zone("a").set("FIRSTCLAIM_ZONES", "a");
    scenario.start();
    List<String> ids = Feed.ids("large", RECORDS);
    ids.forEach(id -> scenario.feed().send(id, LARGE));
    scenario.feed().flush();

    scenario.eventually(
        "as many bytes are in memory as may be",
        () -> assertThat(zone.metric("firstclaim_buffered_bytes")).isGreaterThan(30_000_000));
    assertThat(zone.metric("firstclaim_buffered_bytes")).isLessThan(100_000_000);
    mayEnd.countDown();

    scenario.awaitCompleted(ids);
    scenario.awaitAtTheEnd(zone);
    scenario.eventually(
        "none are left in memory",
        () -> assertThat(zone.metric("firstclaim_buffered_bytes")).isZero());
    assertThat(zone.logText()).doesNotContain("OutOfMemoryError");
  }
}
