package io.firstclaim.processor.engine.claim;

import io.firstclaim.lock.Fingerprint;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * One ticket for each ID this instance works on: of several deliveries of one record, one asks the
 * lock store and the others wait for it here. Thread-safe.
 */
public final class Tickets {
  private final ConcurrentMap<ClaimId, Ticket> tickets = new ConcurrentHashMap<>();

  /** No tickets yet. */
  public Tickets() {}

  /**
   * Enters a ticket; returns null if it is the only one for its ID, else the one that was there
   * first.
   */
  public @Nullable Ticket enter(Ticket ticket) {
    return tickets.putIfAbsent(ticket.id(), ticket);
  }

  /** Its owner is done; those who wait for it go on. Calling it again has no effect. */
  public void leave(Ticket ticket, boolean settled) {
    tickets.remove(ticket.id(), ticket);
    ticket.leave(settled);
  }

  /** Wakes the one that waits with this ID, if any. */
  public void signal(ClaimId id, Signal signal) {
    Ticket ticket = tickets.get(id);
    if (ticket != null) {
      ticket.signal(signal);
    }
  }

  /** Wakes the one that waits with this ID and payload, if any. */
  public void signal(ClaimId id, Fingerprint payload, Signal signal) {
    Ticket ticket = tickets.get(id);
    if (ticket != null && ticket.isFor(payload)) {
      ticket.signal(signal);
    }
  }

  /** Stops all that belong to this owner. */
  public void stop(Object owner) {
    tickets
        .values()
        .forEach(
            ticket -> {
              if (ticket.isOwnedBy(owner)) {
                ticket.signal(new Signal.Stop());
              }
            });
  }

  /** Stops all. */
  public void stopAll() {
    tickets.values().forEach(ticket -> ticket.signal(new Signal.Stop()));
  }
}
