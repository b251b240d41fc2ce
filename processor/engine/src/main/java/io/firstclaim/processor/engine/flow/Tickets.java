package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.processor.engine.identity.ClaimId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One ticket for each ID this instance works on: of several deliveries of one record, one asks the
 * lock store and the others wait for it here. Thread-safe.
 *
 * @param <D> what is worked on
 */
public final class Tickets<D> {
  private final ConcurrentMap<ClaimId, Ticket<D>> tickets = new ConcurrentHashMap<>();

  /** No tickets yet. */
  public Tickets() {}

  /**
   * Enters a ticket; returns null if it is the only one for its ID, else the one that was there
   * first.
   */
  public @Nullable Ticket<D> enter(Ticket<D> ticket) {
    return tickets.putIfAbsent(ticket.id(), ticket);
  }

  /** Those that are there now. */
  public List<Ticket<D>> all() {
    return List.copyOf(tickets.values());
  }

  /** Its owner is done. Returns those that have followed it: none, if it is called again. */
  public List<D> leave(Ticket<D> ticket) {
    boolean _ = tickets.remove(ticket.id(), ticket);
    return ticket.leave();
  }

  /** Wakes the one that waits with this ID, if any. */
  public void signal(ClaimId id, Signal signal) {
    Ticket<D> ticket = tickets.get(id);
    if (ticket != null) {
      ticket.signal(signal);
    }
  }

  /** Wakes the one that waits with this ID and payload, if any. */
  public void signal(ClaimId id, Fingerprint payload, Signal signal) {
    Ticket<D> ticket = tickets.get(id);
    if (ticket != null && ticket.isFor(payload)) {
      ticket.signal(signal);
    }
  }

  /** Stops those that are meant. Returns those of them that only followed another, taken out. */
  public List<D> stop(Predicate<? super D> meant) {
    List<D> followers = new ArrayList<>();
    for (Ticket<D> ticket : tickets.values()) {
      if (meant.test(ticket.owner())) {
        ticket.signal(new Signal.Stop());
      }
      followers.addAll(ticket.takeOut(meant));
    }
    return followers;
  }

  /** Stops all; those that follow another wait for what becomes of it. */
  public void stopAll() {
    tickets.values().forEach(ticket -> ticket.signal(new Signal.Stop()));
  }
}
