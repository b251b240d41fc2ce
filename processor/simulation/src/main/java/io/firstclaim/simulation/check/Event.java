package io.firstclaim.simulation.check;

import java.time.Instant;
import org.apache.kafka.common.TopicPartition;

/** Something that happened, in the order in which it did. */
public sealed interface Event {
  /** The store has taken a write. */
  record Wrote(Instant at, String machine, ClaimItem before, ClaimItem after) implements Event {
    /** Whether somebody was given the claim by it. */
    boolean isGrant() {
      return after.state() == ClaimItem.State.HELD
          && (before.state() != ClaimItem.State.HELD || before.token() != after.token());
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

  /** A group's offset: everything before it is settled. */
  record Committed(Instant at, String group, TopicPartition partition, long offset)
      implements Event {}

  /** A member has committed a partition that was not its own. */
  record CommittedByStranger(Instant at, String machine, TopicPartition partition)
      implements Event {}

  /** A dead letter was acknowledged. */
  record Letter(Instant at, String machine, String id) implements Event {}

  /** A machine was killed. */
  record Killed(Instant at, String machine) implements Event {}

  /** An engine has ended by itself. */
  record Defect(Instant at, String machine, String what) implements Event {}

  /** When it happened, by the true time. */
  Instant at();
}
