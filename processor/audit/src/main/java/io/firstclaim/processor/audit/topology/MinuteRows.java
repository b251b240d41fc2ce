package io.firstclaim.processor.audit.topology;

import io.firstclaim.processor.audit.api.Minute;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;

/**
 * Rows of minutes, those of one zone and minute added up. Each takes some 22 KB, and whoever may
 * write outcomes can make zones up: only so many are read. For one thread.
 */
public final class MinuteRows {
  /** How many zones are told of. */
  public static final int MOST_ZONES = 16;

  private final Map<Instant, TreeMap<String, Minute>> rows = new TreeMap<>();
  private final Set<String> zones = new HashSet<>();

  /** No rows. */
  public MinuteRows() {}

  /** Adds these, and closes them. */
  public void add(KeyValueIterator<Windowed<byte[]>, byte[]> found) {
    try (found) {
      while (found.hasNext()) {
        KeyValue<Windowed<byte[]>, byte[]> row = found.next();
        String zone = new String(row.key.key(), StandardCharsets.UTF_8);
        if (zones.contains(zone) || (zones.size() < MOST_ZONES && zones.add(zone))) {
          Instant start = row.key.window().startTime();
          var _ =
              rows.computeIfAbsent(start, _ -> new TreeMap<>())
                  .merge(zone, Stores.minute(zone, start, row.value), Minute::plus);
        }
      }
    }
  }

  /** All, by minute and zone. */
  public List<Minute> list() {
    return rows.values().stream().flatMap(zones -> zones.values().stream()).toList();
  }
}
