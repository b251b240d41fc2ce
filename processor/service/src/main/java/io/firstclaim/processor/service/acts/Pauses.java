package io.firstclaim.processor.service.acts;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which zones take no records, as operators said: as the log of acts tells it, so that it outlives
 * restarts. Thread-safe.
 */
public final class Pauses {
  /** Whoever may write to the topic can make zones up. */
  private static final int MOST_ZONES = 1_000;

  private final Map<String, ActMessage.Pause> zones = new TreeMap<>();
  private ActMessage.@Nullable Pause application;

  /** Takes in what was said. */
  public synchronized void hear(ActMessage said) {
    if (!(said instanceof ActMessage.Pause pause)) {
      return;
    }
    switch (pause.scope()) {
      case APPLICATION -> application = pause.paused() ? pause : null;
      case ZONE -> {
        if (!pause.paused()) {
          zones.remove(pause.zone());
        } else if (zones.size() < MOST_ZONES) {
          zones.put(pause.zone(), pause);
        }
      }
    }
  }

  /** Why this zone takes no records; empty if it may. */
  public synchronized Optional<ActMessage.Pause> of(String zone) {
    return Optional.ofNullable(application == null ? zones.get(zone) : application);
  }

  /** All that hold, that of the application first. */
  public synchronized List<ActMessage.Pause> all() {
    List<ActMessage.Pause> all = new ArrayList<>();
    if (application != null) {
      all.add(application);
    }
    all.addAll(zones.values());
    return all;
  }
}
