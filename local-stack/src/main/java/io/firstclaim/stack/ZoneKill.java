package io.firstclaim.stack;

import java.time.Duration;

/**
 * Kills a zone half-way while records are in its hands, and starts it again later. Needs to be
 * asked often whether it is time.
 */
final class ZoneKill {
  private static final int ENOUGH_HELD = 5;
  private static final Duration PATIENCE = Duration.ofSeconds(2);
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
  private long halfWay;
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
        if (ledger.settled() < ledger.size() / 2) {
          halfWay = System.nanoTime();
        } else if (held >= ENOUGH_HELD || (held > 0 && isOver(halfWay, PATIENCE))) {
          zone.kill();
          killedAt = System.nanoTime();
          stage = Stage.AWAY;
          terminal.say(
              "  zone %s killed (kill -9) with %d records in its hands"
                  .formatted(zone.name(), held));
        }
      }
      case AWAY -> {
        if (isOver(killedAt, AWAY)) {
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

  private static boolean isOver(long since, Duration duration) {
    return System.nanoTime() - since > duration.toNanos();
  }
}
