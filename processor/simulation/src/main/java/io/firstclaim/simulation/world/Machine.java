package io.firstclaim.simulation.world;

import java.lang.reflect.Constructor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** A process on a machine of its own: its threads inherit it as their scheduler. */
public final class Machine implements Executor {
  private final World world;
  private final String name;
  private final List<Runnable> heldBack = new ArrayList<>();
  private boolean dead;
  private boolean paused;
  private Duration skew = Duration.ZERO;

  Machine(World world, String name) {
    this.world = world;
    this.name = name;
  }

  /** What it is called. */
  public String name() {
    return name;
  }

  /** How far its wall clock is ahead of the true time. */
  public Duration skew() {
    return skew;
  }

  /** Sets its wall clock. */
  public void setSkew(Duration ahead) {
    skew = ahead;
  }

  /** Whether it was killed. */
  public boolean isDead() {
    return dead;
  }

  /** Whether it stands still. */
  public boolean isPaused() {
    return paused;
  }

  /** Whether it runs. */
  public boolean isUp() {
    return !dead && !paused;
  }

  /** Ends it at once; no {@code finally} is reached. */
  public void kill() {
    dead = true;
    heldBack.clear();
  }

  /** Lets it stand still: none of its threads runs, and its clocks go on. */
  public void pause() {
    paused = true;
  }

  /** Lets it go on. */
  public void resume() {
    paused = false;
    heldBack.forEach(each -> world.enqueue(this, each));
    heldBack.clear();
  }

  void holdBack(Runnable task) {
    heldBack.add(task);
  }

  @Override
  public void execute(Runnable continuation) {
    if (!dead) {
      world.enqueue(this, continuation);
    }
  }

  /** Starts a thread on it. */
  public Thread start(String as, Runnable task) {
    try {
      // How virtual threads are given a scheduler of one's own, which the JDK keeps to itself.
      Constructor<?> builder =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      builder.setAccessible(true);
      return ((Thread.Builder.OfVirtual) builder.newInstance(this)).name(as).start(task);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
