package io.firstclaim.stack;

import java.util.ArrayList;
import java.util.List;

/**
 * A scrape of {@code /prometheus}.
 *
 * @param samples lines as {@code name{label="value"} 1.0}
 */
record Metrics(List<String> samples) {
  static final Metrics NONE = new Metrics(List.of());

  static Metrics parse(String text) {
    List<String> samples = new ArrayList<>();
    text.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).forEach(samples::add);
    return new Metrics(List.copyOf(samples));
  }

  /** The sum over the samples of one name whose labels contain {@code label}. */
  double sum(String name, String label) {
    return samples.stream()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .filter(line -> line.contains(label))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
