package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.dynamodb.DynamoDbTable;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Instances on one broker with tables of their own, as happens by oversight. */
@Order(2)
class OtherStoreIT {
  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  private Zone withATableOfItsOwn(String zone) {
    return scenario.zone(zone).set("FIRSTCLAIM_CLAIM_DYNAMODB_TABLE", tableOfItsOwn());
  }

  private String tableOfItsOwn() {
    return scenario.topic() + "-of-its-own";
  }

  @Test
  void twoApplications_sideBySide_onOneOutcomesTopic_processEveryRecordEach() {
    Zone shop = scenario.zone("a");
    scenario.start(shop);
    List<String> ids = Feed.ids("event", 100);
    scenario.feed().send(ids);
    scenario.awaitCompleted(ids);

    Zone bank =
        withATableOfItsOwn("a").set("FIRSTCLAIM_INPUT_GROUP", scenario.topic() + "-of-the-bank");
    scenario.start(bank);

    scenario.eventually(
        "the second application has processed every record",
        () -> assertThat(bank.deliveries("completed")).isEqualTo(ids.size()));
    scenario.awaitAtTheEnd(shop, bank);
    scenario.eventually(
        "the first has counted them, too",
        () -> assertThat(shop.deliveries("completed")).isEqualTo(ids.size()));
    assertThat(shop.metric("firstclaim_other_stores")).isZero();
    assertThat(shop.metric("kafka_consumer_fetch_manager_fetch_total")).isPositive();
    assertThat(shop.metric("kafka_consumer_node_request_total")).isZero();
    for (String id : ids) {
      assertThat(scenario.sink().callsOf(id)).as("calls for %s", id).hasSize(2);
    }
  }

  @Test
  void zoneWithAnotherTable_takesNone_isNotReady_andSaysWhy_whileTheFirstGoesOn() {
    Zone a = scenario.zone("a");
    Zone b = withATableOfItsOwn("b");
    scenario.start(a);

    b.launch();
    scenario.eventually(
        "zone b has found out",
        () -> assertThat(b.logText()).contains("Takes no records: zone a, instance a1"));
    List<String> ids = Feed.ids("event", 40);
    scenario.feed().send(ids);
    scenario.awaitCompleted(ids);

    assertThat(b.isReady()).isFalse();
    scenario.eventually("zone b is live", () -> assertThat(b.isLive()).isTrue());
    assertThat(b.deliveries("completed") + b.deliveries("duplicate")).isZero();
    a.awaitReady();
    scenario.eventually(
        "zone a counts it", () -> assertThat(a.metric("firstclaim_other_stores")).isEqualTo(1));
    assertThat(a.logText()).containsOnlyOnce("and was there first");
    assertThat(scenario.sink().calls()).hasSize(ids.size()).allMatch(c -> c.zone().equals("a"));

    a.terminate();
    b.awaitReady();
    scenario.eventually(
        "zone b processes what it can see",
        () -> assertThat(b.deliveries("completed")).isEqualTo(ids.size()));
  }

  @Test
  void zoneWithAnotherNamespace_takesNone_andNamesIt_whileTheFirstGoesOn() {
    Zone a = scenario.zone("a");
    Zone b = scenario.zone("b").set("FIRSTCLAIM_CLAIM_NAMESPACE", "mine");
    scenario.start(a);

    b.launch();
    scenario.eventually(
        "zone b has found out",
        () ->
            assertThat(b.logText())
                .contains(
                    "Takes no records: zone a, instance a1 of this application has another"
                        + " firstclaim.claim.namespace and was there first, this instance has"
                        + " firstclaim.claim.namespace=mine"));
    List<String> ids = Feed.ids("event", 40);
    scenario.feed().send(ids);
    scenario.awaitCompleted(ids);

    assertThat(b.isReady()).isFalse();
    a.awaitReady();
    assertThat(scenario.sink().calls()).hasSize(ids.size()).allMatch(c -> c.zone().equals("a"));
  }

  /** As after a restore from a backup, which has the item of the identity, too. */
  @Test
  void zoneWithARestoredTable_takesNone_whileTheFirstGoesOnWithTheOriginal() {
    Zone a = scenario.zone("a");
    scenario.start(a);
    try (DynamoDbClient client = DynamoDbClaims.client()) {
      new DynamoDbTable(client, tableOfItsOwn()).create();
      client
          .scan(all -> all.tableName(scenario.topic()))
          .items()
          .forEach(item -> client.putItem(put -> put.tableName(tableOfItsOwn()).item(item)));
    }

    Zone b = withATableOfItsOwn("b");
    b.launch();

    scenario.eventually(
        "zone b has found out",
        () -> assertThat(b.logText()).contains("Takes no records: zone a, instance a1"));
    assertThat(b.isReady()).isFalse();
    a.awaitReady();
  }
}
