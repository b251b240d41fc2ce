package io.firstclaim.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.memory.MemoryClaimStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One random history of a claim store: three holders, whose clocks differ within the bound and are
 * set now and then, do at random what holders and operators do: claim, send a claim again, renew,
 * complete, release and bury, with leases new and old, their answers lost now and then. Every
 * command goes to the store under test and to the memory store, whose answers and contents must be
 * equal; and whatever both say, the protocol's invariants must hold of it. Invariant numbers are
 * those of the protocol's document.
 */
public final class RandomHistory {
  private static final int STEPS = 60;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration MAX_SKEW = Duration.ofSeconds(1);
  private static final int HALF_SKEW_MILLIS = 500;
  private static final Duration MILLISECOND = Duration.ofMillis(1);

  /** Makes a store under test. */
  public interface Stores {
    /** A store of this holder on this machine. */
    ClaimStore store(ClaimSettings settings, ManualTime machine);

    /**
     * The resolution of the clock that judges leases; time passes in whole ticks. If it is more
     * than a millisecond, the clock is the store's own, and what is waited for comes later by a
     * tick less a nanosecond.
     */
    Duration tick();
  }

  /** One holder, with what it remembers. */
  private static final class Party {
    final String name;
    final ManualTime clock;
    final ManualTime modelClock;
    final ClaimStore store;
    final ClaimStore model;
    final Map<RecordId, Claim> lastClaim = new HashMap<>();
    final Map<RecordId, Held> lastHeld = new HashMap<>();
    final Map<RecordId, List<Lease>> leases = new HashMap<>();

    Party(
        String name, ManualTime clock, ManualTime modelClock, ClaimStore store, ClaimStore model) {
      this.name = name;
      this.clock = clock;
      this.modelClock = modelClock;
      this.store = store;
      this.model = model;
    }
  }

  private record Grant(RecordId id, long token) {}

  private record WriteId(RecordId id, long token, Nonce nonce) {}

  private record LeaseOf(Party party, Lease lease) {}

  private final Random random;
  private final Duration tick;
  private final Duration late;
  private final List<Duration> passing;
  private final ManualTime time = ManualTime.start();
  private final List<Party> parties = new ArrayList<>();
  private final List<RecordId> ids = List.of(RecordId.of("one"), RecordId.of("two"));
  private final List<String> log = new ArrayList<>();

  private final Map<Grant, Nonce> granted = new HashMap<>();
  private final Set<WriteId> written = new HashSet<>();

  /** Operators' writes have nonces of their own, in the store and in the model. */
  private final Map<Nonce, Nonce> operations = new HashMap<>();

  private final Map<RecordId, List<LeaseOf>> everLeased = new HashMap<>();

  RandomHistory(long seed, Stores stores) {
    random = new Random(seed);
    tick = stores.tick();
    boolean storesClock = tick.compareTo(MILLISECOND) > 0;
    late = storesClock ? tick.minusNanos(1) : Duration.ZERO;
    passing =
        List.of(
            tick,
            tick.multipliedBy(2),
            Duration.ofSeconds(1),
            Duration.ofSeconds(10),
            LEASE.minus(tick),
            LEASE,
            LEASE.plus(MAX_SKEW),
            LEASE.plus(MAX_SKEW).plus(tick),
            LEASE.plus(MAX_SKEW.multipliedBy(2)).plus(tick));
    var claims = new MemoryClaimStore.Claims();
    String namespace = "history-" + Nonce.random();
    for (String name : List.of("a", "b", "a")) { // the third is another process of the first's name
      var settings = new ClaimSettings(namespace, name, LEASE, MAX_SKEW, Duration.ofDays(8));
      ManualTime clock = time.machine(skew());
      ManualTime modelClock = storesClock ? time.machine(Duration.ZERO) : clock;
      parties.add(
          new Party(
              name + "#" + parties.size(),
              clock,
              modelClock,
              stores.store(settings, clock),
              new MemoryClaimStore(claims, settings, modelClock)));
    }
  }

  String log() {
    return String.join(System.lineSeparator(), log);
  }

  void play() {
    for (int step = 0; step < STEPS; step++) {
      Party party = oneOf(parties);
      RecordId id = oneOf(ids);
      int dice = random.nextInt(100);
      if (dice < 23) {
        time.advance(oneOf(passing));
      } else if (dice < 25) {
        operate(party, id);
      } else if (dice < 28) {
        party.clock.setSkew(skew());
      } else if (dice < 60) {
        claim(party, newClaim(party, id));
      } else if (dice < 66) {
        Claim last = party.lastClaim.get(id);
        claim(party, last == null ? newClaim(party, id) : last);
      } else {
        Lease lease = someLease(party, id);
        if (lease != null) {
          settle(party, lease, dice);
        }
      }
    }
  }

  private Duration skew() {
    return Duration.ofMillis(random.nextInt(2 * HALF_SKEW_MILLIS + 1) - HALF_SKEW_MILLIS);
  }

  private <T> T oneOf(List<T> some) {
    return some.get(random.nextInt(some.size()));
  }

  private Claim newClaim(Party party, RecordId id) {
    Moment now = party.clock.now();
    Fingerprint payload = random.nextInt(20) == 0 ? Claimant.OTHER_PAYLOAD : Claimant.PAYLOAD;
    Claim claim = Claim.of(id, payload, now);
    Held held = party.lastHeld.get(id);
    return held == null || random.nextInt(4) == 0 ? claim : Claim.after(held, claim, now);
  }

  /** Mostly the latest lease, now and then an older one. */
  private @Nullable Lease someLease(Party party, RecordId id) {
    List<Lease> leases = party.leases.getOrDefault(id, List.of());
    if (leases.isEmpty()) {
      return null;
    }
    return random.nextInt(4) == 0 ? oneOf(leases) : leases.getLast();
  }

  private void claim(Party party, Claim claim) {
    RecordId id = claim.id();
    party.lastClaim.put(id, claim);
    Optional<ClaimRecord> before = party.store.find(id);

    ClaimResult answer = ask(party, claim.toString(), store -> store.claim(claim));

    Optional<ClaimRecord> after = found(party, id);
    checkTransition(id, before, after);
    if (answer instanceof Granted(Lease lease, var unused)) {
      checkGrant(party, claim, lease, before, after.orElseThrow());
      remember(party, lease);
    } else {
      assertThat(after).as("not granted, so nothing changed").isEqualTo(before);
      if (answer instanceof Held held) {
        party.lastHeld.put(id, held);
      }
    }
  }

  private void settle(Party party, Lease lease, int dice) {
    RecordId id = lease.id();
    Optional<ClaimRecord> before = party.store.find(id);
    Duration delay = Duration.ofSeconds(random.nextInt(30) - 5);

    SettleResult answer;
    if (dice < 80) {
      answer = ask(party, "renew " + lease, store -> store.renew(lease));
    } else if (dice < 87) {
      answer = ask(party, "complete " + lease, store -> store.complete(lease, "by " + party.name));
    } else if (dice < 97) {
      answer =
          ask(
              party,
              "release for " + delay + " " + lease,
              store -> store.release(lease, retryAt(party, delay), "again"),
              model -> model.release(lease, modelRetryAt(party, delay), "again"));
    } else {
      answer = ask(party, "bury " + lease, store -> store.bury(lease, "by " + party.name));
    }

    Optional<ClaimRecord> after = found(party, id);
    checkTransition(id, before, after);
    if (answer instanceof Settled(Lease settled)) {
      checkSettled(lease, before.orElseThrow(), after.orElseThrow());
      remember(party, settled);
    } else {
      assertThat(after).as("invariant 4: lost, so nothing changed").isEqualTo(before);
    }
  }

  /** What an operator does, whose answers hold their own nonces. */
  private enum Act {
    RELEASE,
    REDRIVE,
    UNDO
  }

  private void operate(Party party, RecordId id) {
    RedriveId by = new RedriveId("redrive-" + random.nextInt(3));
    Act act = List.of(Act.RELEASE, Act.REDRIVE, Act.REDRIVE, Act.UNDO).get(random.nextInt(4));
    Optional<ClaimRecord> before = party.store.find(id);
    operate(party.store, id, by, act);
    operate(party.model, id, by, act);
    log.add("%s operator: %s %s".formatted(time.elapsed(), act, by));

    Optional<ClaimRecord> after = party.store.find(id);
    party
        .model
        .find(id)
        .ifPresent(model -> operations.put(after.orElseThrow().nonce(), model.nonce()));
    assertAlike("as the model has it", after, party.model.find(id));
    if (after.equals(before)) {
      return;
    }
    ClaimRecord was = before.orElseThrow();
    ClaimRecord now = after.orElseThrow();
    assertThat(written.add(new WriteId(id, now.token(), now.nonce()))).as("invariant 9").isTrue();
    assertThat(now.fingerprint()).isEqualTo(was.fingerprint());
    switch (act) {
      case RELEASE -> {
        assertThat(was.state()).isInstanceOf(ClaimState.Held.class);
        assertThat(now.state()).isInstanceOf(ClaimState.Free.class);
        assertThat(now.token()).isEqualTo(was.token());
        assertThat(now.redrive()).isEqualTo(was.redrive());
      }
      case REDRIVE -> {
        assertThat(was.state()).isInstanceOfAny(ClaimState.Dead.class, ClaimState.Free.class);
        assertThat(was.redrive()).as("a redrive frees a record once").isNotEqualTo(by);
        assertThat(now.state()).isInstanceOf(ClaimState.Free.class);
        assertThat(now.redrive()).isEqualTo(by);
        assertThat(now.token()).isEqualTo(was.token() + 1);
      }
      case UNDO -> {
        assertThat(was.state()).isInstanceOf(ClaimState.Free.class);
        assertThat(was.redrive()).isEqualTo(by);
        assertThat(now.state()).isInstanceOf(ClaimState.Dead.class);
        assertThat(now.redrive()).isNull();
        assertThat(now.token()).isEqualTo(was.token());
      }
    }
  }

  private static void operate(ClaimStore store, RecordId id, RedriveId by, Act act) {
    ClaimOperations operator = (ClaimOperations) store;
    switch (act) {
      case RELEASE -> {
        ReleaseResult unused = operator.release(id, "by an operator");
      }
      case REDRIVE -> {
        RedriveResult unused = operator.redrive(id, Claimant.PAYLOAD, by);
      }
      case UNDO -> {
        long token = operator.find(id).map(ClaimRecord::token).orElse(1L);
        boolean unused =
            operator.undoRedrive(
                id, by, token, 1, new ClaimState.Dead("a/one", Instant.EPOCH, "as it was"));
      }
    }
  }

  private static Instant retryAt(Party party, Duration delay) {
    return isAtOnce(delay) ? ClaimStore.AT_ONCE : party.clock.now().wall().plus(delay);
  }

  /** The others that are negative stand for a time that is past. */
  private static boolean isAtOnce(Duration delay) {
    return delay.toSeconds() < -2;
  }

  private Instant modelRetryAt(Party party, Duration delay) {
    if (isAtOnce(delay)) {
      return ClaimStore.AT_ONCE;
    }
    Instant retryAt = party.modelClock.now().wall().plus(delay);
    return delay.isPositive() ? retryAt.plus(late) : retryAt;
  }

  private <R> R ask(Party party, String command, Function<ClaimStore, R> request) {
    return ask(party, command, request, request);
  }

  private <R> R ask(
      Party party,
      String command,
      Function<ClaimStore, R> request,
      Function<ClaimStore, R> modelRequest) {
    R answer = request.apply(party.store);
    log.add("%s %s: %s%n  -> %s".formatted(time.elapsed(), party.name, command, answer));
    assertAlike("as the model answers", answer, modelRequest.apply(party.model));
    return answer;
  }

  /**
   * Asserts that they are equal; if the clock is the store's own, times only to within its tick and
   * the skew.
   */
  private void assertAlike(String description, Object answer, Object model) {
    Duration slack = late.isZero() ? Duration.ZERO : tick.plusMillis(HALF_SKEW_MILLIS);
    assertThat(answer)
        .as(description)
        .usingRecursiveComparison()
        .withStrictTypeChecking()
        .ignoringFieldsMatchingRegexes("(.*\\.)?version")
        .withComparatorForType(
            (x, y) -> Duration.between(x, y).abs().compareTo(slack) <= 0 ? 0 : x.compareTo(y),
            Instant.class)
        .withComparatorForType(
            (x, y) -> y.equals(operations.getOrDefault(x, x)) ? 0 : 1, Nonce.class)
        .withComparatorForType(
            (x, y) -> x.minus(y).abs().compareTo(slack) <= 0 ? 0 : x.compareTo(y), Duration.class)
        .isEqualTo(model);
  }

  private Optional<ClaimRecord> found(Party party, RecordId id) {
    Optional<ClaimRecord> found = party.store.find(id);
    assertAlike("as the model has it", found, party.model.find(id));
    return found;
  }

  /** The answer may be lost on its way; what it granted holds all the same. */
  private void remember(Party party, Lease lease) {
    everLeased
        .computeIfAbsent(lease.id(), unused -> new ArrayList<>())
        .add(new LeaseOf(party, lease));
    if (random.nextInt(6) > 0) {
      party.leases.computeIfAbsent(lease.id(), unused -> new ArrayList<>()).add(lease);
    }
  }

  private void checkTransition(
      RecordId id, Optional<ClaimRecord> before, Optional<ClaimRecord> after) {
    if (after.equals(before)) {
      return;
    }
    ClaimRecord now = after.orElseThrow();
    assertThat(written.add(new WriteId(id, now.token(), now.nonce())))
        .as("invariant 9: no two writes with one token and nonce")
        .isTrue();
    if (before.isEmpty()) {
      assertThat(now.token()).isEqualTo(1);
      return;
    }
    ClaimRecord was = before.get();
    assertThat(was.state())
        .as("invariant 3: a terminal state is not overwritten")
        .isNotInstanceOfAny(ClaimState.Done.class, ClaimState.Dead.class);
    assertThat(now.token() - was.token())
        .as("invariant 2: the token never falls, and rises by one")
        .isBetween(0L, 1L);
    assertThat(now.attempts() - was.attempts())
        .as("attempts count as they begin, and no grant but the first begins by itself")
        .isBetween(0, now.token() == was.token() ? 1 : 0);
    assertThat(now.fingerprint()).isEqualTo(was.fingerprint());
  }

  private void checkGrant(
      Party party, Claim claim, Lease lease, Optional<ClaimRecord> before, ClaimRecord after) {
    RecordId id = claim.id();
    assertThat(granted.merge(new Grant(id, lease.token()), claim.nonce(), (first, unused) -> first))
        .as("invariant 1: at most one claimant is granted a token")
        .isEqualTo(claim.nonce());
    assertThat(lease.start()).as("invariant 7").isEqualTo(claim.start());
    assertThat(after.token()).isEqualTo(lease.token());
    assertThat(after.nonce()).isEqualTo(claim.nonce());
    if (before.isEmpty() || before.get().token() == lease.token()) {
      return;
    }
    switch (before.get().state()) {
      case ClaimState.Held unused -> {
        for (LeaseOf earlier : everLeased.getOrDefault(id, List.of())) {
          assertThat(earlier.lease.isOver(earlier.party.clock.now()))
              .as("invariant 8: %s of %s is over", earlier.lease, earlier.party.name)
              .isTrue();
        }
      }
      case ClaimState.Free free ->
          assertThat(free.retryAt()).isBeforeOrEqualTo(party.clock.now().wall());
      case ClaimState.Done unused -> throw new AssertionError("invariant 3");
      case ClaimState.Dead unused -> throw new AssertionError("invariant 3");
    }
  }

  private static void checkSettled(Lease lease, ClaimRecord before, ClaimRecord after) {
    assertThat(before.token())
        .as("invariant 4: the token is the caller's")
        .isEqualTo(lease.token());
    if (!after.equals(before)) {
      assertThat(before.nonce())
          .as("invariant 4: so is the nonce, or that of its own next write")
          .isIn(lease.nonce(), lease.nonce().next());
      assertThat(before.state()).isInstanceOf(ClaimState.Held.class);
    }
  }
}
