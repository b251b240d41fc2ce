package io.firstclaim.simulation;

import java.util.List;
import java.util.Set;

/** The bugs that the simulation has to find. */
final class Mutants {
  private static final String STORE =
      "lock-store/core/src/main/java/io/firstclaim/lock/store/%s.java";
  private static final String CORE = "lock-store/core/src/main/java/io/firstclaim/lock/%s.java";
  private static final String DYNAMODB =
      "lock-store/dynamodb/src/main/java/io/firstclaim/lock/dynamodb/%s.java";
  private static final String ENGINE =
      "processor/engine/src/main/java/io/firstclaim/processor/engine/%s.java";

  private Mutants() {}

  /** Those that every build looks at. */
  static List<Mutant> few() {
    return List.of(
        new Mutant(
            "what another holds is skipped",
            ENGINE.formatted("flow/Claimer"),
            "yield held(record, from, held);",
            "yield new State.EndedElsewhere();",
            Set.of(12)),
        new Mutant(
            "the watermark passes an open record",
            ENGINE.formatted("intake/Watermark"),
            "return first == null ? next : first.offset;",
            "return next;",
            Set.of(12)),
        new Mutant(
            "a takeover does not wait for the lease's end",
            DYNAMODB.formatted("ClaimItems"),
            "number(now.wall().minus(settings.maxSkew()).toEpochMilli())",
            "number(now.wall().plus(settings.lease()).toEpochMilli())",
            Set.of(8)),
        new Mutant(
            "nothing is committed",
            ENGINE.formatted("intake/Partitions"),
            "if (offsets.isEmpty()) {\n      return;",
            "if (!offsets.isEmpty()) {\n      return;",
            Set.of(0, 18)),
        new Mutant(
            "bytes of records are not given back",
            ENGINE.formatted("admission/InFlightLimit"),
            "buffered.addAndGet(-bytes);\n    usage.present.decrementAndGet();",
            "usage.present.decrementAndGet();",
            Set.of(22)));
  }

  /** The others. */
  static List<Mutant> others() {
    return List.of(
        new Mutant(
            "a step goes by the token alone",
            DYNAMODB.formatted("Statements"),
            "equal(text.append(\" AND \"), values, Items.NONCE, Items.text(on.nonce().toString()));",
            "",
            Set.of(3, 4, 9)),
        new Mutant(
            "a single step has no condition",
            DYNAMODB.formatted("ClaimItems"),
            "\"claimState = :state AND fencingToken = :token AND nonce = :nonce\"",
            "\"claimState <> :state OR fencingToken <> :token OR nonce <> :nonce OR nonce = :nonce\"",
            Set.of(2, 3, 4, 9)),
        new Mutant(
            "the token does not rise",
            STORE.formatted("Protocol"),
            ": later(stored, stored.token() + 1, claim, settings);",
            ": later(stored, stored.token(), claim, settings);",
            Set.of(1, 2)),
        new Mutant(
            "the nonce of a next write is the same",
            CORE.formatted("Nonce"),
            "return new Nonce(high, low + 1);",
            "return new Nonce(high, low);",
            Set.of(9)),
        new Mutant(
            "attempts count twice",
            STORE.formatted("Protocol"),
            "return lease(claim, token, stored.attempts() + 1, false, stored.redrive(), settings);",
            "return lease(claim, token, stored.attempts() + 2, false, stored.redrive(), settings);",
            Set.of(31)),
        new Mutant(
            "a lease is watched for a tenth of its time",
            CORE.formatted("Sighting"),
            "return length.multipliedBy(6).dividedBy(5).minus(now.since(firstSeen));",
            "return length.dividedBy(10).minus(now.since(firstSeen));",
            Set.of(8)),
        new Mutant(
            "a statement whose condition failed is taken for one that took",
            DYNAMODB.formatted("BatchedItems"),
            "case CONDITIONAL_CHECK_FAILED, DUPLICATE_ITEM -> CONDITION_FAILED;",
            "case CONDITIONAL_CHECK_FAILED, DUPLICATE_ITEM -> TOOK;",
            Set.of(1, 6, 12)),
        new Mutant(
            "no answer is taken for one that took",
            DYNAMODB.formatted("BatchedItems"),
            "statements.size(), brokenOff ? SEND_ALONE : new Reply.None(e));",
            "statements.size(), brokenOff ? SEND_ALONE : TOOK);",
            Set.of(6, 12)),
        new Mutant(
            "a dead letter is not waited for",
            ENGINE.formatted("deadletter/DeadLetters"),
            "producer.send(letter).get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);",
            "if (LIMIT.isZero()) { producer.send(letter).get(LIMIT.toMillis(), TimeUnit.MILLISECONDS); } else { var _ = producer.send(letter); }",
            Set.of(12)),
        new Mutant(
            "the count of those present is no atomic one",
            ENGINE.formatted("admission/InFlightLimit"),
            "    present.incrementAndGet();\n    usage.present.incrementAndGet();",
            "    present.set(present.get() + 1);\n    usage.present.incrementAndGet();",
            Set.of(22)),
        new Mutant(
            "any lease is taken for one's own",
            STORE.formatted("Protocol"),
            "if (stored.state() instanceof Held && stored.nonce().equals(claim.nonce())) {",
            "if (stored.state() instanceof Held) {",
            Set.of(1, 6)),
        new Mutant(
            "a failed commit is asked for its offsets",
            ENGINE.formatted("intake/Partitions"),
            "(_, fault) -> { // under the new group protocol, a failure comes without its offsets",
            "(asked, fault) -> { var _ = asked.size();",
            Set.of(0, 18)));
  }
}
