package io.firstclaim.processor.engine.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.EngineBuilder;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.OnMismatch;
import io.firstclaim.processor.engine.api.OtherInstance;
import io.firstclaim.processor.engine.testing.LogLines;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Isolated(LogLines.WHY_ALONE)
class StoreAgreementTest {
  /** One partition of the outcomes topic, which every instance has read so far. */
  private final List<ConsumerRecord<byte[], byte[]>> topic = new ArrayList<>();

  private final List<Living> instances = new ArrayList<>();
  private int senders;

  /** An instance, which says something when the test has it do so and reads everything at once. */
  private final class Living {
    final StoreAgreement agreement;
    private final Origin origin;

    Living(String zone, String store, UnaryOperator<EngineBuilder> with) {
      this(zone, store, with, topic);
    }

    Living(
        String zone,
        String store,
        UnaryOperator<EngineBuilder> with,
        List<ConsumerRecord<byte[], byte[]>> past) {
      EngineSettings settings =
          with.apply(
                  Engine.builder()
                      .zone(zone)
                      .instance(zone + "1")
                      .topics("in")
                      .recordId("key")
                      .bootstrapServers("unused:9092"))
              .settings();
      origin =
          new Origin(
              settings.application(),
              settings.claim().store().namespace(),
              store,
              "sender-" + ++senders);
      agreement = new StoreAgreement(settings, origin, store);
      past.forEach(agreement::heard);
      instances.add(this);
    }

    void announce() {
      publish(agreement.next());
    }

    /** Says what it was about to say, though others were faster. */
    void publish(Presence presence) {
      Headers headers = new RecordHeaders();
      origin.headers().forEach(headers::add);
      ConsumerRecord<byte[], byte[]> message =
          new ConsumerRecord<>(
              "outcomes",
              0,
              topic.size(),
              0,
              TimestampType.CREATE_TIME,
              0,
              0,
              new byte[0],
              presence.json(Instant.EPOCH),
              headers,
              Optional.empty());
      topic.add(message);
      instances.forEach(each -> each.agreement.heard(message));
    }

    void stop() {
      instances.remove(this);
      publish(agreement.last());
    }

    /** {@code kill -9}. */
    void kill() {
      instances.remove(this);
    }

    boolean takes() {
      return agreement.isReached();
    }
  }

  private Living start(String zone, String store) {
    Living started = new Living(zone, store, builder -> builder);
    started.announce();
    return started;
  }

  private void everybodyAnnounces(int times) {
    for (int i = 0; i < times; i++) {
      List.copyOf(instances).forEach(Living::announce);
    }
  }

  @Test
  void instance_takesRecords_onceItHasReadItsOwnAnnouncement() {
    Living a = new Living("a", "one", builder -> builder);
    assertThat(a.takes()).isFalse();
    assertThat(a.agreement.obstacle()).hasValueSatisfying(why -> assertThat(why).contains("write"));

    a.announce();

    assertThat(a.takes()).isTrue();
    assertThat(a.agreement.obstacle()).isEmpty();
    assertThat(a.agreement.otherStores()).isZero();
  }

  @Test
  void zonesOfOneStore_bothTakeRecords() {
    Living a = start("a", "one");
    Living b = start("b", "one");

    assertThat(a.takes() && b.takes()).isTrue();
    assertThat(a.agreement.otherStores()).isZero();
  }

  @Test
  void zoneWithAnotherStore_takesNone_andSaysWhoHasWhich_whileTheFirstGoesOn() {
    Living a = start("a", "one");
    Living b = start("b", "two");
    everybodyAnnounces(20);

    assertThat(a.takes()).isTrue();
    assertThat(a.agreement.otherStores()).isEqualTo(1);
    assertThat(b.takes()).isFalse();
    assertThat(b.agreement.obstacle())
        .hasValueSatisfying(
            why ->
                assertThat(why)
                    .contains(
                        "zone a, instance a1", "uses store one", "this instance uses store two"));
  }

  @Test
  void firstThatStops_leavesTheRecordsToTheOther_atOnce() {
    Living a = start("a", "one");
    Living b = start("b", "two");

    a.stop();
    b.announce();

    assertThat(b.takes()).isTrue();
    assertThat(b.agreement.otherStores()).isZero();
  }

  @Test
  void firstThatIsKilled_isGone_whenNothingIsHeardOfItForSomeAnnouncements() {
    Living a = start("a", "one");
    Living b = start("b", "two");
    everybodyAnnounces(3);

    a.kill();
    everybodyAnnounces(StoreAgreement.SILENT);
    assertThat(b.takes()).isFalse();

    everybodyAnnounces(2);
    assertThat(b.takes()).isTrue();
  }

  @Test
  void others_areThoseThatWereHeard_withHowLongTheyAreSilent_untilTheyAreGone() {
    Living a = start("a", "one");
    assertThat(a.agreement.others()).as("it has not listened for long").isEmpty();
    Living b = start("b", "one");
    everybodyAnnounces(3);
    assertThat(b.agreement.others())
        .contains(List.of(new OtherInstance("a", "a1", Duration.ofSeconds(5))));

    a.kill();
    everybodyAnnounces(3);
    assertThat(b.agreement.others())
        .contains(List.of(new OtherInstance("a", "a1", Duration.ofSeconds(20))));
    everybodyAnnounces(StoreAgreement.SILENT);
    assertThat(b.agreement.others()).contains(List.of());
  }

  @Test
  void others_areNotKnown_whileOwnAnnouncementsAreNotReadBack() {
    Living a = start("a", "one");
    Living b = start("b", "one");
    everybodyAnnounces(3);

    Presence last = b.agreement.next();
    assertThat(b.agreement.others())
        .as("it is silent for longer, as far as is known")
        .contains(List.of(new OtherInstance("a", "a1", Duration.ofSeconds(10))));
    for (int i = 0; i < 3; i++) {
      last = b.agreement.next();
    }
    assertThat(b.agreement.others()).isEmpty();

    b.publish(last);
    assertThat(b.agreement.others())
        .contains(List.of(new OtherInstance("a", "a1", Duration.ofSeconds(10))));
    assertThat(a.takes() && b.takes()).isTrue();
  }

  @Test
  void twoThatStartAtOnce_takeTheOrderOfTheTopic() {
    Living a = new Living("a", "one", builder -> builder);
    Living b = new Living("b", "two", builder -> builder);
    Presence ofA = a.agreement.next();
    Presence ofB = b.agreement.next();

    b.publish(ofB);
    a.publish(ofA);
    assertThat(a.takes()).isFalse();
    assertThat(b.takes()).isTrue();

    everybodyAnnounces(20);
    assertThat(a.takes()).isFalse();
    assertThat(b.takes()).isTrue();
  }

  @Test
  void laterInstancesOfTheFirstStore_areNotStopped_norIsTheLastOfThemWhenTheFirstRestarts() {
    Living a1 = start("a", "one");
    Living b = start("b", "two");
    Living a2 = start("a", "one");
    assertThat(a2.takes()).isTrue();

    a1.stop();
    everybodyAnnounces(20);
    assertThat(a2.takes()).isTrue();
    assertThat(b.takes()).isFalse();

    Living again = start("a", "one");
    assertThat(again.takes()).isTrue();
  }

  @Test
  void announcementFromBefore_countsAlsoWhereItIsHeardOfLate() {
    Living a = start("a", "one");
    instances.remove(a);
    List<ConsumerRecord<byte[], byte[]>> past = List.copyOf(topic);
    Living b = new Living("b", "two", builder -> builder.instance("late"), List.of());
    b.announce();
    assertThat(b.takes()).isTrue();
    instances.add(a);
    topic.stream().skip(past.size()).forEach(a.agreement::heard);

    everybodyAnnounces(2);

    assertThat(a.takes()).isTrue();
    assertThat(b.takes()).isFalse();
  }

  @Test
  void whatIsReadOnceMore_afterAFault_changesNothing() {
    Living a = start("a", "one");
    Living b = start("b", "two");
    everybodyAnnounces(3);

    for (int i = 0; i < 3; i++) {
      topic.forEach(a.agreement::heard);
      topic.forEach(b.agreement::heard);
    }

    assertThat(a.takes()).isTrue();
    assertThat(b.takes()).isFalse();
  }

  @Test
  void otherApplications_otherNamespaces_otherInputs_andOtherGroupsOfOneZone_areNoneOfOurs() {
    Living a = start("a", "one");
    List<UnaryOperator<EngineBuilder>> strangers =
        List.of(
            builder -> builder.application("bank"),
            builder -> builder.topics("other"),
            builder -> builder.group("another"));
    for (UnaryOperator<EngineBuilder> stranger : strangers) {
      Living other = new Living("a", "two", stranger);
      other.announce();

      assertThat(other.takes()).isTrue();
      assertThat(a.agreement.otherStores()).isZero();
      other.stop();
    }
  }

  static Stream<Arguments> bindingSettings() {
    return Stream.of(
        binding("firstclaim.claim.namespace=mine", b -> b.namespace("mine")),
        binding("firstclaim.input.record-id=header:id", b -> b.recordId("header:id")),
        binding("firstclaim.claim.resources=", b -> b.resources("json:/to")),
        binding("firstclaim.claim.on-mismatch=skip", b -> b.onMismatch(OnMismatch.SKIP)));
  }

  private static Arguments binding(String written, UnaryOperator<EngineBuilder> change) {
    return Arguments.of(written, change);
  }

  @ParameterizedTest
  @MethodSource("bindingSettings")
  void zoneWithAnotherSettingThatIsShared_takesNone_andNamesIt_whileTheFirstGoesOn(
      String written, UnaryOperator<EngineBuilder> change) {
    Living a = start("a", "one");
    Living b = new Living("b", "one", change);
    everybodyAnnounces(20);

    assertThat(a.takes()).isTrue();
    assertThat(a.agreement.otherStores()).isEqualTo(1);
    assertThat(b.takes()).isFalse();
    assertThat(b.agreement.obstacle())
        .hasValueSatisfying(
            why ->
                assertThat(why)
                    .contains("zone a, instance a1", "has another", written, "give both the same")
                    .doesNotContain("store"));

    a.stop();
    everybodyAnnounces(1);
    assertThat(b.takes()).as("once the last of the old ones has gone").isTrue();
  }

  @Test
  void storeAndSettings_areNamedTogether() {
    Living _ = start("a", "one");
    Living b = new Living("b", "two", builder -> builder.recordId("header:id"));
    b.announce();

    assertThat(b.agreement.obstacle())
        .hasValueSatisfying(
            why ->
                assertThat(why)
                    .contains(
                        "uses store one, has another firstclaim.input.record-id",
                        "this instance uses store two, has firstclaim.input.record-id=header:id"));
  }

  @Test
  void leaseAndRetention_mayDiffer_asTheyMustBeChangeable() {
    try (LogLines log = new LogLines(StoreAgreement.class.getName())) {
      Living a = start("a", "one");
      Living b =
          new Living(
              "b",
              "one",
              builder -> builder.lease(Duration.ofSeconds(45)).retention(Duration.ofDays(30)));
      everybodyAnnounces(3);

      assertThat(a.takes() && b.takes()).isTrue();
      assertThat(a.agreement.otherStores()).isZero();
      assertThat(log.of("WARN"))
          .anySatisfy(line -> assertThat(line).contains("firstclaim.claim.lease", "30s"))
          .anySatisfy(line -> assertThat(line).contains("firstclaim.claim.retention", "30d"))
          .hasSize(4);
    }
  }

  @Test
  void resourcesInAnotherOrder_areTheSame() {
    Living a = new Living("a", "one", builder -> builder.resources("json:/from,json:/to"));
    Living b = new Living("b", "one", builder -> builder.resources("json:/to,json:/from"));
    everybodyAnnounces(3);

    assertThat(a.takes() && b.takes()).isTrue();
  }

  @Test
  void whatAnOlderVersionDoesNotSay_isNotKnown_andNoObstacle() {
    Living old = new Living("a", "one", builder -> builder);
    Presence said = old.agreement.next();
    old.publish(
        new Presence(
            said.kind(),
            said.zone(),
            said.instance(),
            said.group(),
            said.topics(),
            said.beat(),
            said.since(),
            Map.of()));
    Living b = new Living("b", "one", builder -> builder.recordId("header:id"));
    b.announce();

    assertThat(b.takes()).isTrue();
    assertThat(b.agreement.otherStores()).isZero();
    Living c = start("c", "one");
    assertThat(c.takes()).as("one that is known to have other settings than b").isFalse();
  }

  @Test
  void garbage_andAnyNumberOfMadeUpInstances_doNoHarm() {
    Living a = start("a", "one");
    for (int i = 0; i < 2_000; i++) {
      Living made = new Living("b", "two", builder -> builder);
      made.announce();
      made.kill();
      topic.clear();
    }

    assertThat(a.takes()).isTrue();
    everybodyAnnounces(StoreAgreement.SILENT + 2);
    assertThat(a.agreement.otherStores()).isZero();
  }
}
