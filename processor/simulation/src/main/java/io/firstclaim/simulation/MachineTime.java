package io.firstclaim.simulation;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.time.Instant;

/**
 * The clocks of a machine: a clock daemon slews both alike, too fast or too slow by what one may,
 * and somebody sets the wall clock.
 */
final class MachineTime implements TimeSource {
  private static final long MILLION = 1_000_000;

  private final Machine machine;
  private final Instant began;
  private final long origin;
  private final long slewedPpm;

  /**
   * The clocks of a machine that begins now.
   *
   * @param slewedPpm by how many millionths they are too fast
   */
  MachineTime(World world, Machine machine, int slewedPpm) {
    this.machine = machine;
    this.began = world.now();
    this.origin = System.nanoTime();
    this.slewedPpm = slewedPpm;
  }

  @Override
  public Moment now() {
    long passed = System.nanoTime() - origin;
    long ticks = passed + passed / MILLION * slewedPpm;
    return new Moment(began.plus(Duration.ofNanos(ticks)).plus(machine.skew()), origin + ticks);
  }
}
