package io.firstclaim.simulation.check;

import io.firstclaim.simulation.check.Event.Began;
import io.firstclaim.simulation.check.Event.Calm;
import io.firstclaim.simulation.check.Event.Committed;
import io.firstclaim.simulation.check.Event.CommittedByStranger;
import io.firstclaim.simulation.check.Event.Defect;
import io.firstclaim.simulation.check.Event.Ended;
import io.firstclaim.simulation.check.Event.Killed;
import io.firstclaim.simulation.check.Event.Letter;
import io.firstclaim.simulation.check.Event.Over;
import io.firstclaim.simulation.check.Event.Wrote;
import io.firstclaim.simulation.check.Event.WroteBlindly;
import java.time.Instant;
import org.apache.kafka.common.TopicPartition;

/** What happened, as one would say it. */
final class Words {
  private Words() {}

  static String of(Event event) {
    return switch (event) {
      case Wrote wrote -> of(wrote);
      case WroteBlindly(Instant _, String machine, String what) ->
          "%s sends %s without a condition".formatted(machine, what);
      case Began(Instant _, String machine, String id, long token, int attempt) ->
          "%s begins to handle %s under token %d, attempt %d"
              .formatted(machine, id, token, attempt);
      case Ended(Instant _, String machine, String id, long token) ->
          "%s has handled %s under token %d".formatted(machine, id, token);
      case Event.Interrupted(Instant _, String machine, String id, long token) ->
          "%s is interrupted at %s under token %d".formatted(machine, id, token);
      case Event.ToldSettled(Instant _, String machine, String id, long token, var state) ->
          "%s is told that %s is %s by its token %d".formatted(machine, id, state, token);
      case Event.ToldLost(Instant _, String machine, String id, long token, var _) ->
          "%s is told that it has lost %s, token %d".formatted(machine, id, token);
      case Committed(Instant _, String group, TopicPartition partition, long offset) ->
          "group %s is committed up to %s@%d".formatted(group, partition, offset);
      case CommittedByStranger(Instant _, String machine, TopicPartition partition) ->
          "%s commits %s, which is not its own".formatted(machine, partition);
      case Letter(Instant _, String machine, String id) ->
          "%s has written the dead letter of %s".formatted(machine, id);
      case Event.Stops(Instant _, String machine) -> machine + " is told to stop";
      case Killed(Instant _, String machine) -> machine + " is dead";
      case Defect(Instant _, String machine, String what) ->
          "the engine on %s has ended: %s".formatted(machine, what);
      case Calm(Instant _, long _) -> "no faults from now on";
      case Over(Instant _, long _) -> "all is settled";
      default -> event.toString();
    };
  }

  private static String of(Wrote wrote) {
    ClaimItem is = wrote.after();
    ClaimItem was = wrote.before();
    return switch (is.state()) {
      case HELD ->
          wrote.isTakeover()
              ? "%s takes %s over from %s with token %d, until %s"
                  .formatted(wrote.machine(), is.id(), was.holder(), is.token(), is.until())
              : wrote.isGrant()
                  ? "%s is granted %s with token %d, until %s"
                      .formatted(wrote.machine(), is.id(), is.token(), is.until())
                  : "%s renews %s, token %d, attempt %d, until %s"
                      .formatted(wrote.machine(), is.id(), is.token(), is.attempts(), is.until());
      case FREE ->
          "%s gives %s back, token %d, %d attempts, due %s"
              .formatted(wrote.machine(), is.id(), is.token(), is.attempts(), is.until());
      case DONE -> "%s completes %s, token %d".formatted(wrote.machine(), is.id(), is.token());
      case DEAD ->
          "%s buries %s after %d attempts, token %d"
              .formatted(wrote.machine(), is.id(), is.attempts(), is.token());
      case ABSENT -> "%s deletes %s".formatted(wrote.machine(), is.id());
    };
  }
}
