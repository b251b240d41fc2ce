package io.firstclaim.stack;

import java.time.Duration;

/**
 * Kills a zone half-way while records are in its hands, and starts it again later. To be asked
 * often whether it is time.
 */
final class ZoneKill {
  private static final Duration AWAY = Duration.ofSeconds(2);

  private enum Stage {
    WAITING,
    AWAY,
    STARTING,
    BACK
  }

  private final Zone zone;
  private final HandlerServer handler;
  private final Ledger ledger;
  private final Terminal terminal;
  private Stage stage = Stage.WAITING;
  private long killedAt;

  ZoneKill(Zone zone, HandlerServer handler, Ledger ledger, Terminal terminal) {
    this.zone = zone;
    this.handler = handler;
    this.ledger = ledger;
    this.terminal = terminal;
  }

  Zone zone() {
    return zone;
  }

  boolean isPending() {
    return stage == Stage.WAITING;
  }

  /** Whether the zone was killed and serves again. */
  boolean isOver() {
    return stage == Stage.BACK;
  }

  void check() {
    switch (stage) {
      case WAITING -> {
        int held = handler.running(zone.name());
        if (held > 0 && ledger.settled() >= ledger.size() / 2) {
          zone.kill();
          killedAt = System.nanoTime();
          stage = Stage.AWAY;
          terminal.say(
              "  zone %s killed (kill -9) with %d records in its hands"
                  .formatted(zone.name(), held));
        }
      }
      case AWAY -> {
        if (System.nanoTime() - killedAt > AWAY.toNanos()) {
          zone.start();
          stage = Stage.STARTING;
        }
      }
      case STARTING -> {
        if (!zone.isAlive()) {
          throw new JobFailure("zone " + zone.name() + " does not start again, see " + zone.log());
        }
        if (zone.isReady()) {
          stage = Stage.BACK;
          terminal.say("  zone %s is back".formatted(zone.name()));
        }
      }
      case BACK -> {
        // Nothing more to do.
      }
    }
  }
}
