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
  private static final String S3 = "lock-store/s3/src/main/java/io/firstclaim/lock/s3/%s.java";
  private static final String KEEPER =
      "lock-store/core/src/main/java/io/firstclaim/lock/keeper/%s.java";
  private static final String DEDUPLICATOR =
      "lock-store/core/src/main/java/io/firstclaim/lock/deduplicator/%s.java";
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
            "return lease(claim, token, stored.nextAttempt(), false, stored.redrive(), settings);",
            "return lease(claim, token, stored.nextAttempt() + 1, false, stored.redrive(), settings);",
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
            Set.of(4, 6, 7, 12)),
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
            "a step needs no fence",
            STORE.formatted("Protocol"),
            "if (stored == null || stored.token() != lease.token()) {\n      return lost(stored);\n    }\n    if (stored.state() instanceof Held) {\n      if (stored.nonce().equals(lease.nonce())) {",
            "if (stored == null) {\n      return lost(stored);\n    }\n    if (stored.state() instanceof Held) {\n      if (stored.token() != 0) {",
            Set.of(3, 4, 9, 12)),
        new Mutant(
            "an end is claimed",
            STORE.formatted("Protocol"),
            "new Decision.Unchanged<>(\n              new ClaimResult.Done(ending(stored, done.by(), done.at()), done.result()));",
            "done.by().isEmpty() ? null : grant(stored, claim, at, settings);",
            Set.of(3)),
        new Mutant(
            "a record is claimed before its retry is due",
            STORE.formatted("Protocol"),
            "free.retryAt().isAfter(now.wall())",
            "free.retryAt().isAfter(now.wall().plus(settings.retention()))",
            Set.of(8)),
        new Mutant(
            "a takeover that was decided after a read does not wait for the skew bound",
            STORE.formatted("Protocol"),
            "Duration.between(now.wall(), held.end().plus(settings.maxSkew()));",
            "Duration.between(now.wall(), held.end());",
            Set.of(8)),
        new Mutant(
            "a takeover at first sight does not wait for the skew bound",
            DYNAMODB.formatted("ClaimItems"),
            "number(now.wall().minus(settings.maxSkew()).toEpochMilli())",
            "number(now.wall().toEpochMilli())",
            Set.of(8)),
        new Mutant(
            "leases are judged by the late edge of the store's time",
            STORE.formatted("StoreMoment"),
            "return new Moment(early, machine.ticks());",
            "return new Moment(late, machine.ticks());",
            Set.of(8)),
        new Mutant(
            "a lease counts from its answer",
            KEEPER.formatted("KeptLease"),
            "return keeper.store.renew(as);",
            "SettleResult answer = keeper.store.renew(as);\n      return answer instanceof SettleResult.Settled(Lease kept)\n          ? new SettleResult.Settled(\n              new Lease(kept.id(), kept.holder(), kept.token(), kept.attempt(), kept.counted(),\n                  kept.fingerprint(), kept.nonce(), keeper.time.now(), kept.length(),\n                  kept.version(), kept.onBehalfOf(), kept.resources(), kept.redrive()))\n          : answer;",
            Set.of(7)),
        new Mutant(
            "a holder counts on its lease to the very end, and beyond",
            CORE.formatted("Lease"),
            "Duration.ofNanos(nanos - nanos / 10).minus(now.since(start))",
            "Duration.ofNanos(nanos + nanos / 2).minus(now.since(start))",
            Set.of(7)),
        new Mutant(
            "one's own renewal is not known",
            STORE.formatted("Protocol"),
            "if (stored.nonce().equals(lease.nonce().next())) {",
            "if (stored.nonce().equals(lease.nonce().next().next().next())) {",
            Set.of(6)),
        new Mutant(
            "a claim that comes late takes what was given back at once",
            DYNAMODB.formatted("ClaimItems"),
            "OR claimState = :free AND retryAt > :zero AND retryAt < :now \\",
            "OR claimState = :free AND retryAt >= :zero AND retryAt < :now \\",
            Set.of(9)),
        new Mutant(
            "tokens begin anew",
            DYNAMODB.formatted("ClaimItems"),
            "fencingToken = if_not_exists(fencingToken, :before) + :one, \\",
            "fencingToken = :before + :one, \\",
            Set.of(1, 2, 6)),
        new Mutant(
            "a refused write is taken for one that took",
            STORE.formatted("DrivenClaimStore"),
            "case Differs(Stored found) -> stored = found;",
            "case Differs(Stored found) -> { return versioned.apply(then, found.version()); }",
            Set.of(1, 4, 6, 12)),
        new Mutant(
            "a refused first claim is taken for one that took",
            STORE.formatted("DrivenClaimStore"),
            "case Differs(Stored stored) -> driven(acquire, stored);",
            "case Differs(Stored stored) -> versioned(first.then(), null);",
            Set.of(1, 6)),
        new Mutant(
            "an unknown end is taken for a settled one",
            STORE.formatted("DrivenClaimStore"),
            "return new SettleResult.Unknown(String.valueOf(e.getMessage()));",
            "return e.getMessage() == null ? new SettleResult.Lost(null) : new Settled(lease);",
            Set.of(4, 12)),
        new Mutant(
            "a store that is busy is read as a lost claim",
            STORE.formatted("DrivenClaimStore"),
            "return new SettleResult.Unknown(String.valueOf(e.getMessage()));",
            "return e.getMessage() == null ? new Settled(lease) : new SettleResult.Lost(null);",
            Set.of(6)),
        new Mutant(
            "answers of a batch go to each other's writers",
            DYNAMODB.formatted("BatchedItems"),
            "replies.add(error == null ? TOOK : reply(error));",
            "replies.addFirst(error == null ? TOOK : reply(error));",
            Set.of(1, 4, 6, 12)),
        new Mutant(
            "one who waits in a batch's line hears that all is well",
            DYNAMODB.formatted("GroupCommit"),
            "A answer = i < answers.size() ? answers.get(i) : requests.brokenOff();",
            "A answer = i < answers.size() ? answers.getFirst() : requests.brokenOff();",
            Set.of(1, 4, 6, 12)),
        new Mutant(
            "leases are not renewed",
            KEEPER.formatted("KeptLease"),
            "} else if (keeper.renews && isDue(current, now)) {",
            "} else if (!keeper.renews && isDue(current, now)) {",
            Set.of(33)),
        new Mutant(
            "two steps of a lease cross",
            KEEPER.formatted("KeptLease"),
            "if (!step.tryLock()) {\n      return null;\n    }",
            "if (!step.isLocked()) {\n      step.lock();\n    } else {\n      return closed || lost ? null : renewed(lease);\n    }",
            Set.of(4)),
        new Mutant(
            "work begins though its attempt is not counted",
            KEEPER.formatted("KeptLease"),
            "return lease.counted()\n        ? new",
            "return lease.token() > 0\n        ? new",
            Set.of(19)),
        new Mutant(
            "a record is buried without its letter",
            ENGINE.formatted("flow/Attempts"),
            "deadLetters.write(record",
            "if (cause.isEmpty()) deadLetters.write(record",
            Set.of(12)),
        new Mutant(
            "what its holders die of is never given up",
            DEDUPLICATOR.formatted("RetryPolicy"),
            "return attempt > Math.max(maxAttempts, 2);",
            "return attempt > 10 * Math.max(maxAttempts, 2);",
            Set.of(19)),
        new Mutant(
            "a record is given up an attempt too early",
            DEDUPLICATOR.formatted("RetryPolicy"),
            "return attempt >= maxAttempts;",
            "return attempt >= maxAttempts - 2;",
            Set.of(31)),
        new Mutant(
            "any outcome is an end",
            ENGINE.formatted("outcome/OutcomeFeed"),
            "case FAILED, TAKEN_OVER, LEASE_LOST, BLOCKED -> {}",
            "case FAILED, TAKEN_OVER, LEASE_LOST, BLOCKED -> known.add(message.id(), message.payload(), outcome.token(), outcome.at());",
            Set.of(12)),
        new Mutant(
            "what is left behind counts as settled",
            ENGINE.formatted("intake/Delivery"),
            "public void passTurnOn() {\n",
            "public void passTurnOn() {\n    mark.settle();\n",
            Set.of(12)),
        new Mutant(
            "the position is one too high",
            ENGINE.formatted("intake/Watermark"),
            "next = Math.max(next, position);",
            "next = Math.max(next, position) + 1;",
            Set.of(0, 12, 18)),
        new Mutant(
            "a partition that is lost stays",
            ENGINE.formatted("intake/Partitions"),
            "AssignedPartition partition = assigned.remove(id);",
            "AssignedPartition partition = assigned.get(id);",
            Set.of(0, 12, 14)),
        new Mutant(
            "any number is in flight",
            ENGINE.formatted("admission/InFlightLimit"),
            "return inFlight < maxInFlight\n        && (",
            "return inFlight < 1000 * maxInFlight\n        || (",
            Set.of(22)),
        new Mutant(
            "a permit is not given back",
            ENGINE.formatted("admission/InFlightLimit"),
            "granted = false;\n      inFlight--;",
            "granted = false;",
            Set.of(18, 21, 22)),
        new Mutant(
            "who waits for a permit is not called",
            ENGINE.formatted("admission/InFlightLimit"),
            "      usage.inFlight--;\n      grantNext();",
            "      usage.inFlight--;",
            Set.of(18, 21)),
        new Mutant(
            "the count of bytes is no atomic one",
            ENGINE.formatted("admission/InFlightLimit"),
            "    buffered.addAndGet(bytes);\n",
            "    buffered.set(buffered.get() + bytes);\n",
            Set.of(22)),
        new Mutant(
            "the count of those who leave is no atomic one",
            ENGINE.formatted("admission/InFlightLimit"),
            "    present.decrementAndGet();\n    wakePoller(usage);",
            "    present.set(present.get() - 1);\n    wakePoller(usage);",
            Set.of(18, 21, 22)),
        new Mutant(
            "what another holds is asked for no more",
            ENGINE.formatted("flow/Claimer"),
            "new State.HeldElsewhere(answer, inARow, pause(shorter(most, answer.remaining())));",
            "new State.HeldElsewhere(answer, inARow, pause(answer.remaining().multipliedBy(1000)));",
            Set.of(18, 21)),
        new Mutant(
            "a record of which nothing is known counts as settled",
            ENGINE.formatted("flow/Claimer"),
            "return answer == null ? unanswered(from) : state(record, from, answer);",
            "return answer == null ? found(record) : state(record, from, answer);",
            Set.of(12)),
        new Mutant(
            "a twin is settled before the one it follows",
            ENGINE.formatted("flow/RecordFlow"),
            "if (end instanceof State.Settled) {\n        settleTwins(record, followers);",
            "if (end instanceof State.Over) {\n        settleTwins(record, followers);",
            Set.of(12)),
        new Mutant(
            "a failed commit is asked for its offsets",
            ENGINE.formatted("intake/Partitions"),
            "(_, fault) -> { // under the new group protocol, a failure comes without its offsets",
            "(asked, fault) -> { var _ = asked.size();",
            Set.of(0, 18)),
        new Mutant(
            "a session that is over ends the polling",
            ENGINE.formatted("intake/PollLoop"),
            "catch (RetriableException | UnknownMemberIdException |",
            "catch (RetriableException |",
            Set.of(0, 18)),
        new Mutant(
            "a consumer that has given itself up ends the polling",
            ENGINE.formatted("intake/PollLoop"),
            "catch (GroupIdNotFoundException | UnreleasedInstanceIdException e) {",
            "catch (UnreleasedInstanceIdException e) {",
            Set.of(0, 18)),
        new Mutant(
            "a lease that has run out is held",
            KEEPER.formatted("KeptLease"),
            "return !closed && !lost && !overdue && !current.isOver(now) && !current.isDoubtful(now);",
            "return !closed && !lost && current.token() > 0 && now != null;",
            Set.of(7, 28)),
        new Mutant(
            "an object is written over without a condition",
            S3.formatted("Markers"),
            "(on == null ? put.ifNoneMatch(\"*\") : put.ifMatch(on.version())).build();",
            "(on == null ? put.ifNoneMatch(\"*\") : put).build();",
            Set.of(5)),
        new Mutant(
            "an object is deleted without a condition",
            S3.formatted("Markers"),
            ".ifMatch(version)\n",
            "\n",
            Set.of(3, 5, 30)),
        new Mutant(
            "a resource is where a record of its name is",
            CORE.formatted("RecordId"),
            "case RESOURCE -> -bytes;",
            "case RESOURCE -> bytes;",
            Set.of(12, 31, 39)),
        new Mutant(
            "a redrive is forgotten",
            STORE.formatted("Protocol"),
            "new Free(ClaimStore.AT_ONCE, freedBy(command)),\n            command.by());",
            "new Free(ClaimStore.AT_ONCE, freedBy(command)),\n            stored.redrive());",
            Set.of(12, 43)),
        new Mutant(
            "a redrive frees what is no dead letter's",
            STORE.formatted("Protocol"),
            "if (!(stored.state() instanceof Dead) && !isFreedAndUntried(stored)) {",
            "if (stored.state() instanceof Free && !isFreedAndUntried(stored)) {",
            Set.of(3, 13, 43)));
  }
}
