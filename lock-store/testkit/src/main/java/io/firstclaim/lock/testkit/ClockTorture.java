package io.firstclaim.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/**
 * One random history of three holders whose clocks are {@linkplain BadClock bad}: whatever befalls
 * them, no lease is taken over before its true end (invariant 8), no two holders think at once that
 * a record, or what it touches, is theirs (invariant 28), and once their clocks behave, nobody is
 * held off for longer than two leases (invariant 18).
 */
public final class ClockTorture {
  private static final int STEPS = 100;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration MAX_SKEW = Duration.ofSeconds(1);

  /** What is claimed with every other record. */
  private static final RecordId SHARED = RecordId.of("shared").asResource();

  /** Makes a store under test. */
  public interface Stores {
    /** A store of this holder on this machine, in a world that lives in this time. */
    ClaimStore store(ClaimSettings settings, TimeSource machine, ManualTime world);

    /** Whether leases are judged by the machines' own wall clocks. */
    boolean judgesByMachine();
  }

  /** One holder, with what it remembers. */
  private static final class Party {
    final String name;
    final BadClock clock;
    final ClaimStore store;
    final Map<RecordId, Lease> leases = new HashMap<>();
    final Map<RecordId, Claim> unanswered = new HashMap<>();
    final Map<RecordId, Held> seen = new HashMap<>();

    Party(String name, BadClock clock, ClaimStore store) {
      this.name = name;
      this.clock = clock;
      this.store = store;
    }

    /** Whether it would go on working on the record, or with the resource, at this moment. */
    boolean thinksItHolds(RecordId id) {
      Moment now = clock.calmly();
      return leases.values().stream()
          .filter(lease -> !lease.isOver(now) && !lease.isDoubtful(now))
          .flatMap(lease -> Stream.concat(Stream.of(lease), lease.resources().stream()))
          .anyMatch(lease -> lease.id().equals(id));
    }
  }

  private final Random random;
  private final ManualTime world = ManualTime.start();
  private final List<Party> parties = new ArrayList<>();
  private final List<RecordId> ids = List.of(RecordId.of("one"), RecordId.of("two"));
  private final List<String> log = new ArrayList<>();

  /** When, in truth, the write was begun that each record's lease counts from. */
  private final Map<RecordId, Duration> begun = new HashMap<>();

  ClockTorture(long seed, Stores stores) {
    random = new Random(seed);
    String namespace = "torture-" + Nonce.random();
    for (String name : List.of("a", "b", "c")) {
      var clock =
          new BadClock(
              world.machine(Duration.ZERO),
              new Random(random.nextLong()),
              stores.judgesByMachine());
      var settings = new ClaimSettings(namespace, name, LEASE, MAX_SKEW, Duration.ofDays(8));
      parties.add(new Party(name, clock, stores.store(settings, clock, world)));
    }
  }

  String log() {
    return String.join(System.lineSeparator(), log);
  }

  void play() {
    for (int step = 0; step < STEPS; step++) {
      Party party = parties.get(random.nextInt(parties.size()));
      RecordId id = ids.get(random.nextInt(ids.size()));
      int dice = random.nextInt(100);
      Lease lease = party.leases.get(id);
      if (dice < 25) {
        world.advance(Duration.ofMillis(random.nextInt(dice < 5 ? 40_000 : 6_000)));
      } else if (dice < 60 || lease == null) {
        claim(party, id);
      } else if (dice < 95) {
        renew(party, lease);
      } else {
        release(party, lease);
      }
      assertOneHolder();
    }
    assertFreeInTheEnd();
  }

  private void claim(Party party, RecordId id) {
    Duration begin = world.elapsed();
    Claim claim = party.unanswered.remove(id);
    if (claim == null) {
      Moment now = party.clock.now();
      Held held = party.seen.get(id);
      claim = Claim.of(id, Claimant.PAYLOAD, now);
      claim = random.nextBoolean() ? claim.withResources(List.of(SHARED)) : claim;
      claim = held == null ? claim : Claim.after(held, claim, now);
    }
    ClaimResult answer;
    try {
      answer = party.store.claim(claim);
    } catch (StoreUnavailableException e) {
      party.unanswered.put(id, claim);
      begun.putIfAbsent(id, begin); // where it could not be given back, it is held by nobody
      note(party, "no answer to a claim of " + id);
      return;
    }
    note(party, answer);
    if (answer instanceof Granted(Lease lease, String takenFrom)) {
      if (takenFrom != null) {
        assertThat(world.elapsed().minus(begun.get(id)))
            .as("how long the lease before had lasted")
            .isGreaterThan(LEASE);
      }
      begun.put(id, begin);
      party.leases.put(id, lease);
    } else if (answer instanceof Held held) {
      party.seen.put(id, held);
    }
  }

  private void renew(Party party, Lease lease) {
    Duration begin = world.elapsed();
    SettleResult answer = party.store.renew(lease);
    note(party, answer);
    switch (answer) {
      case Settled(Lease renewed) -> {
        party.leases.put(lease.id(), renewed);
        begun.put(lease.id(), begin);
      }
      case SettleResult.Lost unused -> party.leases.remove(lease.id());
      case SettleResult.Unknown unused -> {}
    }
  }

  private void release(Party party, Lease lease) {
    SettleResult answer = party.store.release(lease, Instant.EPOCH, "again");
    note(party, answer);
    if (!(answer instanceof SettleResult.Unknown)) {
      party.leases.remove(lease.id());
    }
  }

  private void note(Party party, Object what) {
    log.add("%s %s: %s".formatted(world.elapsed(), party.name, what));
  }

  private void assertOneHolder() {
    for (RecordId id : List.of(ids.getFirst(), ids.getLast(), SHARED)) {
      assertThat(parties.stream().filter(party -> party.thinksItHolds(id)).map(party -> party.name))
          .as("holders of %s at %s", id, world.elapsed())
          .hasSizeLessThanOrEqualTo(1);
    }
  }

  private void assertFreeInTheEnd() {
    parties.forEach(party -> party.clock.calmDown());
    world.advance(LEASE.multipliedBy(2));
    Party last = parties.getLast();
    Claim one = Claim.of(ids.getFirst(), Claimant.PAYLOAD, last.clock.now());
    Claim two = Claim.of(ids.getLast(), Claimant.PAYLOAD, last.clock.now());
    assertThat(last.store.claim(one.withResources(List.of(SHARED)))).isInstanceOf(Granted.class);
    assertThat(last.store.claim(two)).isInstanceOf(Granted.class);
  }
}
