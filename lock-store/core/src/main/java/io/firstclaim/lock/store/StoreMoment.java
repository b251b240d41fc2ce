package io.firstclaim.lock.store;

import io.firstclaim.lock.Moment;
import java.time.Duration;
import java.time.Instant;

/**
 * What a machine knows of the store's time at one moment: two bounds. What others wait for, the end
 * of a lease, is written by the late one and judged by the early one, so that not knowing better
 * delays a takeover and never hastens one.
 *
 * @param machine the machine's own clocks
 * @param early the store's time is not before this
 * @param late nor after this
 * @param told the late bound as the store's own answers tell it, also where the two are by the
 *     machine's wall clock: what first tokens are made of
 */
public record StoreMoment(Moment machine, Instant early, Instant late, Instant told) {
  /** After the end of any lease that was ever granted. */
  private static final Instant NEVER = Instant.parse("9999-12-31T00:00:00Z");

  /** The store's time between these bounds. */
  public StoreMoment(Moment machine, Instant early, Instant late) {
    this(machine, early, late, late);
  }

  /** The store's time where the machine's wall clock is the store's. */
  public static StoreMoment of(Moment machine) {
    return new StoreMoment(machine, machine.wall(), machine.wall());
  }

  /** The store's time where nothing is known of it: no lease is over. */
  public static StoreMoment unknown(Moment machine) {
    return new StoreMoment(machine, Instant.EPOCH, NEVER);
  }

  /** Whether anything is known of the store's time. */
  public boolean isKnown() {
    return late.isBefore(NEVER);
  }

  /** This moment, with what the store's answers tell. */
  public StoreMoment withTold(Instant byTheStore) {
    return new StoreMoment(machine, early, late, byTheStore);
  }

  /** The ticks, with the time by which leases are judged. */
  public Moment judging() {
    return new Moment(early, machine.ticks());
  }

  /** When that is, on the store's clock. */
  public Instant toStore(Instant ofMachine) {
    return early.plus(Duration.between(machine.wall(), ofMachine));
  }

  /** When that is, on this machine's wall clock. */
  public Instant toMachine(Instant ofStore) {
    return isKnown() ? machine.wall().plus(Duration.between(early, ofStore)) : ofStore;
  }
}
