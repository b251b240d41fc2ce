package io.firstclaim.processor.engine.admission;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Has records whose holders die again and again handled one at a time, as each may be what they die
 * of: then the next death is the culprit's alone. A record that waits for its turn holds no lease;
 * it takes its turn before it is claimed, and gives it back when its handler is done or abandoned.
 * Thread-safe.
 */
public final class Suspects {
  /** How long a record waits before it tries again to have its turn. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final AtomicReference<@Nullable Suspect> taken = new AtomicReference<>();

  /** Nobody is under suspicion. */
  public Suspects() {}

  /** A record, which is under no suspicion yet. */
  Suspect suspect() {
    return new Suspect();
  }

  /** One record. Its turn is taken by the record's thread, and given back by any. */
  public final class Suspect implements Checkpoint {
    private boolean needed;

    private Suspect() {}

    /** Whether the record is under suspicion from now on. */
    public void setNeeded(boolean isNeeded) {
      needed = isNeeded;
    }

    /** Takes the turn, if it is needed and no other record has it. */
    @Override
    public @Nullable Duration pass() {
      return !needed || isTaken() || taken.compareAndSet(null, this) ? null : PAUSE;
    }

    /** Whether this is the one record under suspicion that may be handled. */
    public boolean isTaken() {
      return taken.get() == this;
    }

    @Override
    public void leave() {
      taken.compareAndSet(this, null);
    }
  }
}
