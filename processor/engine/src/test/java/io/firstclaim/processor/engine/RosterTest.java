package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.api.HeldRecord;
import io.firstclaim.processor.engine.api.Page;
import io.firstclaim.processor.engine.api.ParkedRecord;
import io.firstclaim.processor.engine.api.ResourceSource;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.handler.HandlerResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class RosterTest extends FlowFixture {
  private static ParkedRecord only(TestInstance instance, WaitsFor what) {
    AtomicReference<List<ParkedRecord>> parked = new AtomicReference<>(List.of());
    eventually(
        () -> {
          parked.set(instance.parked(10, null).items());
          return parked.get().stream().anyMatch(each -> each.waitsFor() == what);
        });
    assertThat(parked.get()).hasSize(1);
    return parked.get().getFirst();
  }

  @Test
  void recordInItsHandler_isHeld_withTokenAndAttempt() throws InterruptedException {
    TestInstance instance = start("a", this::doneWhenItMay);
    Sent sent = instance.deliver(TestRecords.record("order-1", "{}", 3, 17));
    eventually(() -> !instance.held(10, null).items().isEmpty());

    HeldRecord held = instance.held(10, null).items().getFirst();

    assertThat(held.id()).isEqualTo("order-1");
    assertThat(held.topic()).isEqualTo("in");
    assertThat(held.partition()).isEqualTo(3);
    assertThat(held.offset()).isEqualTo(17);
    assertThat(held.token()).isEqualTo(1);
    assertThat(held.attempt()).isEqualTo(1);
    assertThat(instance.parked(10, null).items()).isEmpty();
    mayEnd.countDown();
    eventually(sent::isOver);
    eventually(() -> instance.held(10, null).items().isEmpty());
  }

  @Test
  void recordHeldByAnother_isParked_andSaysByWhomAndHowLong() throws InterruptedException {
    settings.lease = Duration.ofHours(1);
    MemoryClaimStore another = TestInstance.anothers(claims, settings.lease, time);
    assertThat(another.claim(TestInstance.claim("order-1", "{}", time))).isNotNull();
    TestInstance instance = start("a", this::doneWhenItMay);
    Sent _ = instance.deliver("order-1", "{}");

    ParkedRecord parked = only(instance, WaitsFor.HOLDER);

    assertThat(parked.by()).contains("a/9");
    assertThat(parked.until().orElseThrow()).isAfter(time.now().wall().plusSeconds(3000));
  }

  @Test
  void failedRecord_isParked_untilItsRetryIsDue() throws InterruptedException {
    settings.backoff = Duration.ofSeconds(50);
    TestInstance instance = start("a", _ -> HandlerResult.retry("not yet"));
    Sent _ = instance.deliver("order-1", "{}");

    assertThat(only(instance, WaitsFor.RETRY).until()).isPresent();
  }

  @Test
  void recordLeftToItsZone_isParked_forItsHeadStart() throws InterruptedException {
    time = TestTime.standing(); // so that no feed counts as silent
    settings.zones = List.of("a", "b");
    settings.headStart = Duration.ofMinutes(10);
    TestInstance instance = start("a", this::doneWhenItMay);
    for (int i = 0; i < 20; i++) {
      Sent _ = instance.deliver("order-" + i, "{}");
    }

    eventually(() -> instance.waitingFor(WaitsFor.HEAD_START).findAny().isPresent());
  }

  @Test
  void recordThatTouchesWhatAnotherHasHere_isParked_forIt() throws InterruptedException {
    settings.resources = ResourceSource.parseList("json:/account");
    TestInstance instance = start("a", this::doneWhenItMay);
    Sent _ = instance.deliver("order-1", "{\"account\":\"x\"}");
    eventually(() -> instance.held(10, null).items().size() == 1);
    Sent _ = instance.deliver("order-2", "{\"account\":\"x\"}");

    assertThat(only(instance, WaitsFor.RESOURCE).id()).isEqualTo("order-2");
  }

  @Test
  void recordWithoutAPlace_isParked_forOne() throws InterruptedException {
    settings.maxInFlight = 1;
    TestInstance instance = start("a", this::doneWhenItMay);
    Sent _ = instance.deliver("order-1", "{}");
    eventually(() -> instance.held(10, null).items().size() == 1);
    Sent _ = instance.deliver("order-2", "{}");

    assertThat(only(instance, WaitsFor.PLACE).id()).isEqualTo("order-2");
  }

  @Test
  void recordBeforeItsTurn_isParked_withoutALease_whereHandlersHaveARate()
      throws InterruptedException {
    settings.handlerRate = Optional.of(1);
    TestInstance instance = start("a", FlowFixture::done);
    for (int i = 0; i < 60; i++) {
      Sent _ = instance.deliver("order-" + i, "{}");
    }
    eventually(() -> !calls.isEmpty());

    eventually(
        () -> instance.waitingFor(WaitsFor.RATE).anyMatch(each -> each.id().equals("order-59")));
    assertThat(stored("order-59")).isEmpty();
  }

  @Test
  void recordWhoseStoreDoesNotAnswer_isParked_forTheStore() throws InterruptedException {
    TestInstance instance = start("a", this::doneWhenItMay);
    instance.store.downWhile(Op.CLAIM, () -> true);
    Sent _ = instance.deliver("order-1", "{}");

    assertThat(only(instance, WaitsFor.STORE).by()).isEmpty();
  }

  @Test
  void otherPayloadOfAnIdInWork_isParked_forThat() throws InterruptedException {
    TestInstance instance = start("a", this::doneWhenItMay);
    Sent _ = instance.deliver("order-1", "{}");
    eventually(() -> instance.held(10, null).items().size() == 1);
    Sent _ = instance.deliver("order-1", "{other}");

    assertThat(only(instance, WaitsFor.SAME_ID).id()).isEqualTo("order-1");
  }

  @Test
  void pages_areSortedByPlace_andFollowEachOther() throws InterruptedException {
    TestInstance instance = start("a", this::doneWhenItMay);
    for (int i = 9; i >= 0; i--) {
      Sent _ = instance.deliver(TestRecords.record("order-" + i, "{}", i % 2, i));
    }
    eventually(() -> instance.held(100, null).items().size() == 10);

    List<Long> offsets = new ArrayList<>();
    Page<HeldRecord> page = instance.held(3, null);
    while (page.next().isPresent()) {
      page.items().forEach(each -> offsets.add(each.offset()));
      page = instance.held(3, page.next().get());
    }
    page.items().forEach(each -> offsets.add(each.offset()));

    assertThat(offsets).containsExactly(0L, 2L, 4L, 6L, 8L, 1L, 3L, 5L, 7L, 9L);
  }

  @Test
  void wrongLimitOrPlace_isRefused() throws InterruptedException {
    TestInstance instance = start("a", this::doneWhenItMay);

    for (int limit : new int[] {0, -1, 1001}) {
      assertThatThrownBy(() -> instance.held(limit, null))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("limit");
    }
    for (String after : List.of("", "x", "in/1", "in/1/2/3", "a b/1/2", "in/-1/2")) {
      assertThatThrownBy(() -> instance.parked(1, after))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("after");
    }
  }
}
