package io.firstclaim.simulation.check;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** Something that happened, in the order in which it did. */
public sealed interface Event {
  /** What the names of operators' machines begin with. */
  String OPERATOR = "operator";

  /** The store has taken a write. */
  record Wrote(Instant at, String machine, ClaimItem before, ClaimItem after) implements Event {
    /** Whether somebody was given the claim by it. */
    boolean isGrant() {
      return after.state() == ClaimItem.State.HELD
          && (before.state() != ClaimItem.State.HELD || before.token() != after.token());
    }

    /** Whether an operator freed what was given up. */
    boolean isRedrive() {
      boolean keepsWhatItHad = isReleaseByOperator() && after.redrive().equals(before.redrive());
      return isByOperator()
          && after.state() == ClaimItem.State.FREE
          && !after.redrive().isEmpty()
          && !keepsWhatItHad;
    }

    /** Whether an operator freed what somebody holds. */
    boolean isReleaseByOperator() {
      return isByOperator()
          && before.state() == ClaimItem.State.HELD
          && after.state() == ClaimItem.State.FREE;
    }

    boolean isByOperator() {
      return machine.startsWith(OPERATOR);
    }

    /** Whether it was taken from somebody whose lease was over. */
    boolean isTakeover() {
      return isGrant() && before.state() == ClaimItem.State.HELD;
    }
  }

  /** Something was sent that writes whatever was written before. */
  record WroteBlindly(Instant at, String machine, String what) implements Event {}

  /** A handler was called. */
  record Began(Instant at, String machine, String id, long token, int attempt) implements Event {}

  /** A handler has returned or thrown. */
  record Ended(Instant at, String machine, String id, long token) implements Event {}

  /** A handler was interrupted. */
  record Interrupted(Instant at, String machine, String id, long token) implements Event {}

  /** A group's offset: everything before it is settled. */
  record Committed(Instant at, String group, TopicPartition partition, long offset)
      implements Event {}

  /** A member has committed a partition that was not its own. */
  record CommittedByStranger(Instant at, String machine, TopicPartition partition)
      implements Event {}

  /** A dead letter was acknowledged. */
  record Letter(Instant at, String machine, String id) implements Event {}

  /**
   * A machine's engine stops in good order; it interrupts handlers that take longer than its grace.
   */
  record Stops(Instant at, String machine) implements Event {}

  /** A machine was killed. */
  record Killed(Instant at, String machine) implements Event {}

  /** The answer that told of a write was lost. */
  record AnswerLost(Instant at, String machine, ClaimItem took) implements Event {}

  /** Somebody uses a resource or a mutex under a token. */
  record Used(Instant at, String machine, String id, long token) implements Event {}

  /** A holder begins to ask whether it still is one. */
  record Asks(Instant at, String machine, String id, long token) implements Event {}

  /** A holder was told that it still is one. */
  record ToldHeld(Instant at, String machine, String id, long token) implements Event {}

  /** A machine's clock was set, or it stands still from now on. */
  record Disturbed(Instant at, String machine) implements Event {}

  /** Partitions were taken from a member of a group. */
  record Revoked(Instant at, String machine) implements Event {}

  /** An engine has ended by itself. */
  record Defect(Instant at, String machine, String what) implements Event {}

  /** Faults have stopped. So many requests were sent to the store until now. */
  record Calm(Instant at, long calls) implements Event {}

  /** All is settled. So many requests were sent to the store until now. */
  record Over(Instant at, long calls) implements Event {}

  /** A holder was told that it has a lease, and counts on it for so long. */
  record ToldLease(Instant at, String machine, String id, long token, Duration remaining)
      implements Event {}

  /** A holder was told that its step has ended its lease. */
  record ToldSettled(Instant at, String machine, String id, long token, ClaimItem.State state)
      implements Event {}

  /**
   * A holder was told that it has its lease no more, or one of those on what it claimed with it.
   */
  record ToldLost(Instant at, String machine, String id, long token, Map<String, Long> resources)
      implements Event {}

  /** A holder has begun a step under its lease. */
  record StepBegan(Instant at, String machine, String id, long token) implements Event {}

  /** It heard of that step, or that nothing is known. */
  record StepEnded(Instant at, String machine, String id, long token) implements Event {}

  /** What an engine has in hand. */
  record Stock(Instant at, String machine, int inFlight, long bytes) implements Event {}

  /** When it happened, by the true time. */
  Instant at();
}
