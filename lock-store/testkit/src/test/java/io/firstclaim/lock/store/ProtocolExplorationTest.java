package io.firstclaim.lock.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimState.Dead;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.Sighting;
import io.firstclaim.lock.testkit.Soak;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Every history of two holders up to a depth, over a store that does nothing but compare and swap:
 * each command is answered, or its write is applied and the answer lost, or the write stays in the
 * network to arrive at any later time or never, or arrives twice. Of every step the invariants must
 * hold that together make the protocol's promise.
 */
class ProtocolExplorationTest {
  /** The depth; one step more takes ten times as long. */
  private static final int DEPTH = Integer.getInteger("firstclaim.depth", Soak.times(5, 6));

  private static final int CLAIMS_PER_HOLDER = 2;
  private static final int OPERATIONS = 2;
  private static final RedriveId REDRIVE = new RedriveId("redrive-1");
  private static final Dead AS_IT_WAS = new Dead("a/one", Instant.EPOCH, "as it was");

  private static final long OPERATOR = 1000;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration MAX_SKEW = Duration.ofSeconds(1);
  private static final Duration HALF = LEASE.dividedBy(2);
  private static final Duration LONG = LEASE.plus(MAX_SKEW).plusMillis(1);
  private static final Instant START = Instant.parse("2100-01-01T00:00:00Z");
  private static final RecordId ID = RecordId.of("id");
  private static final List<ClaimSettings> SETTINGS = List.of(settings("a"), settings("b"));

  private static ClaimSettings settings(String holder) {
    return new ClaimSettings("explored", holder, LEASE, MAX_SKEW, Duration.ofDays(8));
  }

  /** A write on its way: it takes only where the stored record is still the one decided on. */
  private record InFlight(@Nullable ClaimRecord over, ClaimRecord next) {}

  /** What a holder remembers. */
  private record Memory(
      int claims, @Nullable Claim claim, @Nullable Lease lease, @Nullable Sighting sighting) {
    Memory with(Lease newLease) {
      return new Memory(claims, claim, newLease, sighting);
    }
  }

  private record World(
      long millis,
      @Nullable ClaimRecord stored,
      Memory a,
      Memory b,
      @Nullable InFlight inFlight,
      int operations) {
    Moment now() {
      return new Moment(START.plusMillis(millis), millis * 1_000_000);
    }

    Memory of(int holder) {
      return holder == 0 ? a : b;
    }

    World with(int holder, Memory memory) {
      return holder == 0
          ? new World(millis, stored, memory, b, inFlight, operations)
          : new World(millis, stored, a, memory, inFlight, operations);
    }

    World with(@Nullable ClaimRecord newStored, @Nullable InFlight nowInFlight) {
      return new World(millis, newStored, a, b, nowInFlight, operations);
    }

    World after(Duration passing) {
      return new World(millis + passing.toMillis(), stored, a, b, inFlight, operations);
    }

    World afterOperation() {
      return new World(millis, stored, a, b, inFlight, operations + 1);
    }
  }

  private final Set<World> seen = new HashSet<>();
  private List<World> next = new ArrayList<>();
  private int takeovers;
  private int completions;
  private int operated;

  @Test
  void everyHistoryOfTwoHolders_keepsTheInvariants() {
    var nothing = new Memory(0, null, null, null);
    List<World> now = List.of(new World(0, null, nothing, nothing, null, 0));
    for (int depth = 0; depth < DEPTH; depth++) {
      next = new ArrayList<>();
      now.forEach(this::explore);
      now = next;
    }

    assertThat(takeovers).as("takeovers explored").isGreaterThan(100);
    assertThat(operated).as("releases and redrives explored").isGreaterThan(100);
    assertThat(completions).as("completions explored").isGreaterThan(100);
    assertThat(seen).hasSizeGreaterThan(10_000);
  }

  private void explore(World world) {
    reach(world, world.after(HALF));
    reach(world, world.after(LONG));
    InFlight inFlight = world.inFlight();
    if (inFlight != null) {
      reach(world, world.with(arrived(world, inFlight), null));
      reach(world, world.with(arrived(world, inFlight), inFlight));
      reach(world, world.with(world.stored(), null));
    }
    for (int holder = 0; holder < 2; holder++) {
      exploreClaims(world, holder);
      exploreSteps(world, holder);
    }
    if (world.operations() < OPERATIONS) {
      exploreOperations(world.afterOperation());
    }
  }

  private void exploreClaims(World world, int holder) {
    Memory memory = world.of(holder);
    if (memory.claim() != null) {
      claim(world, holder, memory.claim());
    }
    if (memory.claims() < CLAIMS_PER_HOLDER) {
      int number = memory.claims() + 1;
      var nonce = new Nonce(holder * 10L + number, 0);
      var claim = new Claim(ID, Fingerprint.none(), nonce, world.now(), memory.sighting());
      claim(
          world.with(holder, new Memory(number, claim, memory.lease(), memory.sighting())),
          holder,
          claim);
    }
  }

  private void claim(World world, int holder, Claim claim) {
    Decision<ClaimResult> decision =
        Protocol.decide(
            world.stored(),
            new Command.Acquire(claim),
            StoreMoment.of(world.now()),
            SETTINGS.get(holder));
    switch (decision) {
      case Decision.Unchanged<ClaimResult>(ClaimResult answer) -> {
        reach(world, world);
        reach(world, told(world, holder, claim, answer));
      }
      case Decision.Update<ClaimResult>(ClaimRecord record, ClaimResult then) -> {
        var write = new InFlight(world.stored(), record);
        World applied = world.with(record, world.inFlight());
        checkGrantIsDue(world);
        reach(world, applied);
        reach(world, told(applied, holder, claim, then));
        reach(world, world.with(world.stored(), write));
        reach(world, told(applied, holder, claim, then).with(record, write));
      }
    }
  }

  /** Each with a nonce of its own, high enough to be told from those of holders. */
  private void exploreOperations(World world) {
    ClaimRecord stored = world.stored();
    var nonce = new Nonce(OPERATOR + world.operations(), 0);
    operate(world, Protocol.decide(stored, new Command.TakeBack("why", nonce), stored));
    operate(
        world,
        Protocol.decide(stored, new Command.Redrive(Fingerprint.none(), REDRIVE, null, nonce)));
    operate(
        world,
        Protocol.decide(
            stored,
            new Command.UndoRedrive(
                REDRIVE, stored == null ? 1 : stored.token(), 1, AS_IT_WAS, nonce)));
  }

  private <R> void operate(World world, Decision<R> decision) {
    if (decision instanceof Decision.Update<R>(ClaimRecord next, _)) {
      operated++;
      var write = new InFlight(world.stored(), next);
      reach(world, world.with(next, world.inFlight()));
      reach(world, world.with(world.stored(), write));
      reach(world, world.with(next, write));
    }
  }

  private World told(World world, int holder, Claim claim, ClaimResult answer) {
    Memory memory = world.of(holder);
    return switch (answer) {
      case Granted(Lease lease, _) -> {
        ClaimRecord stored = Objects.requireNonNull(world.stored());
        require(
            stored.state() instanceof Held
                && stored.token() == lease.token()
                && stored.nonce().equals(claim.nonce()),
            "granted is what is stored",
            stored,
            lease);
        require(lease.start().equals(claim.start()), "a grant counts from its claim", claim, lease);
        yield world.with(holder, memory.with(lease));
      }
      case ClaimResult.Held held ->
          world.with(
              holder, new Memory(memory.claims(), memory.claim(), memory.lease(), held.sighting()));
      case ClaimResult.Blocked _,
          ClaimResult.Later _,
          ClaimResult.Done _,
          ClaimResult.Dead _,
          ClaimResult.Mismatch _ ->
          world;
    };
  }

  private void exploreSteps(World world, int holder) {
    Lease lease = world.of(holder).lease();
    if (lease == null) {
      return;
    }
    settle(world, holder, new Command.Renew(lease));
    settle(world, holder, new Command.Complete(lease, "by " + holder));
    settle(world, holder, new Command.Release(lease, world.now().wall(), "again"));
    settle(world, holder, new Command.Bury(lease, "by " + holder));
  }

  private void settle(World world, int holder, Command.Settle command) {
    Decision<SettleResult> decision =
        Protocol.decide(world.stored(), command, StoreMoment.of(world.now()), SETTINGS.get(holder));
    switch (decision) {
      case Decision.Unchanged<SettleResult>(SettleResult answer) ->
          reach(world, told(world, holder, command, answer));
      case Decision.Update<SettleResult>(ClaimRecord record, SettleResult then) -> {
        var write = new InFlight(world.stored(), record);
        World applied = world.with(record, world.inFlight());
        reach(world, applied);
        reach(world, told(applied, holder, command, then));
        reach(world, world.with(world.stored(), write));
        reach(world, told(applied, holder, command, then).with(record, write));
      }
    }
  }

  private static World told(World world, int holder, Command.Settle command, SettleResult answer) {
    if (!(answer instanceof Settled(Lease lease))) {
      return world;
    }
    ClaimRecord stored = Objects.requireNonNull(world.stored());
    require(
        stored.token() == lease.token() && stored.nonce().high() == command.lease().nonce().high(),
        "settled is a write of one's own grant",
        stored,
        command);
    Class<? extends ClaimState> expected =
        switch (command) {
          case Command.Renew _ -> Held.class;
          case Command.Complete _ -> Done.class;
          case Command.Release _ -> ClaimState.Free.class;
          case Command.Bury _ -> Dead.class;
        };
    require(expected.isInstance(stored.state()), "settled is what is stored", stored, command);
    if (command instanceof Command.Renew) {
      require(lease.nonce().equals(stored.nonce()), "a renewal's nonce is known", stored, lease);
      return world.with(holder, world.of(holder).with(lease));
    }
    return world;
  }

  private static @Nullable ClaimRecord arrived(World world, InFlight write) {
    return Objects.equals(world.stored(), write.over()) ? write.next() : world.stored();
  }

  /** Invariant 8: whoever had it knows by its own clock that it has it no more. */
  private void checkGrantIsDue(World world) {
    ClaimRecord stored = world.stored();
    if (stored == null || !(stored.state() instanceof Held)) {
      return;
    }
    takeovers++;
    for (Memory memory : List.of(world.a(), world.b())) {
      Lease lease = memory.lease();
      require(
          lease == null || lease.isOver(world.now()), "taken over before its end", stored, lease);
    }
  }

  private void reach(World from, World to) {
    checkTransition(from.stored(), to.stored());
    if (seen.add(to)) {
      next.add(to);
    }
  }

  private void checkTransition(@Nullable ClaimRecord from, @Nullable ClaimRecord to) {
    if (Objects.equals(from, to)) {
      return;
    }
    if (to == null) {
      throw new AssertionError("a record vanished");
    }
    if (from == null) {
      require(to.token() == 1 && to.attempts() == 1, "the first grant has token 1", from, to);
      return;
    }
    if (to.nonce().high() >= OPERATOR && !to.nonce().equals(from.nonce())) {
      checkOperation(from, to);
      return;
    }
    require(
        Objects.equals(from.redrive(), to.redrive()), "only a redrive leaves its name", from, to);
    require(
        !(from.state() instanceof Done || from.state() instanceof Dead),
        "a terminal state is overwritten",
        from,
        to);
    if (to.token() == from.token()) {
      require(
          to.nonce().high() == from.nonce().high() && to.nonce().low() == from.nonce().low() + 1,
          "a write under a token follows the one before",
          from,
          to);
      require(from.state() instanceof Held, "only a holder writes", from, to);
    } else {
      require(
          to.token() == from.token() + 1 && to.attempts() == from.attempts(),
          "the token rises by one, and nothing is begun yet",
          from,
          to);
      require(to.state() instanceof Held, "a grant is held", from, to);
    }
    if (to.state() instanceof Done) {
      completions++;
    }
  }

  private static void checkOperation(ClaimRecord from, ClaimRecord to) {
    if (to.state() instanceof Dead) {
      require(
          from.state() instanceof ClaimState.Free
              && REDRIVE.equals(from.redrive())
              && to.token() == from.token(),
          "only a redrive is undone that nobody has taken up",
          from,
          to);
      return;
    }
    require(to.state() instanceof ClaimState.Free, "an operator only frees", from, to);
    if (from.state() instanceof Held) {
      require(
          to.token() == from.token()
              && to.attempts() == from.attempts()
              && Objects.equals(to.redrive(), from.redrive()),
          "a release leaves the rest as it is",
          from,
          to);
    } else {
      require(from.state() instanceof Dead, "a redrive is of what is dead", from, to);
      require(
          to.token() == from.token() + 1 && to.attempts() == 0,
          "a redrive's token is higher than any",
          from,
          to);
      require(
          REDRIVE.equals(to.redrive()) && from.redrive() == null,
          "a redrive frees a record once",
          from,
          to);
    }
  }

  /** Millions of checks: only a failing one makes words. */
  private static void require(
      boolean kept, String what, @Nullable Object from, @Nullable Object to) {
    if (!kept) {
      throw new AssertionError("not kept: %s; %s, %s".formatted(what, from, to));
    }
  }
}
