package io.firstclaim.simulation.aws;

import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * What is between machines and a service. While it is not calm, requests are lost, late or
 * repeated, and answers are lost; a machine may be cut off, one way or both.
 */
public final class Wire {
  private static final Duration A_TRIP = Duration.ofMillis(3);
  private static final Duration MUCH_LATER = Duration.ofSeconds(40);
  private static final Duration AGAIN = Duration.ofSeconds(5);

  private final World world;
  private final Consumer<String> faults;
  private final Set<String> deaf = new TreeSet<>();
  private final Set<String> mute = new TreeSet<>();
  private double loss;
  private boolean down;
  private long sent;

  /**
   * A wire on which nothing is lost yet.
   *
   * @param faults hears of each that happens
   */
  public Wire(World world, Consumer<String> faults) {
    this.world = world;
    this.faults = faults;
  }

  /** A request, of whose meaning nothing is known, and whose body nobody changes. */
  @SuppressWarnings("ArrayRecordComponent")
  record Request(
      Machine from, String method, String path, Map<String, List<String>> headers, byte[] body) {}

  /** How many of a hundred requests, and of a hundred answers, meet with something. */
  public void setLoss(double share) {
    loss = share;
  }

  /** Requests of a machine do not arrive any more. */
  public void cutRequests(Machine machine) {
    deaf.add(machine.name());
  }

  /** Requests of a machine arrive, and no answers. */
  public void cutAnswers(Machine machine) {
    mute.add(machine.name());
  }

  /** All is well with this machine's network. */
  public void mend(Machine machine) {
    deaf.remove(machine.name());
    mute.remove(machine.name());
  }

  /** Whether the service answers nobody. */
  public void setDown(boolean whether) {
    down = whether;
  }

  /** How many requests were sent so far. */
  public long sent() {
    return sent;
  }

  /** Takes a request to the service, and its answer back, or not. */
  void send(Request request, Service service, Exchange exchange) {
    sent++;
    world.after(world.upTo(A_TRIP), () -> arrive(request, service, exchange));
  }

  private void arrive(Request request, Service service, Exchange exchange) {
    if (down || deaf.contains(request.from().name())) {
      return;
    }
    if (world.chance(loss)) {
      switch (world.below(4)) {
        case 0 -> faults.accept("request lost");
        case 1 -> {
          faults.accept("connection reset before the request");
          exchange.reset();
        }
        case 2 -> {
          faults.accept("request late");
          world.after(world.upTo(MUCH_LATER), () -> service.answer(request));
        }
        default -> {
          faults.accept("request repeated");
          world.after(world.upTo(AGAIN), () -> service.answer(request));
          answer(request, service, exchange);
        }
      }
      return;
    }
    answer(request, service, exchange);
  }

  private void answer(Request request, Service service, Exchange exchange) {
    Service.Answer answer = service.answer(request);
    world.after(world.upTo(A_TRIP), () -> deliver(request.from(), answer, exchange));
  }

  private void deliver(Machine to, Service.Answer answer, Exchange exchange) {
    if (down || mute.contains(to.name())) {
      answer.whenLost().run();
      return;
    }
    if (world.chance(loss)) {
      answer.whenLost().run();
      if (world.chance(0.5)) {
        faults.accept("answer lost");
      } else {
        faults.accept("connection reset before the answer");
        exchange.reset();
      }
      return;
    }
    exchange.answered(answer);
  }
}
