package io.firstclaim.processor.service.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The handlers that come with the service, by the names that the settings have for them. */
enum HandlerName {
  LOG,
  HTTP,
  TOPIC,
  DATASET;

  /** The handler of this name; empty if it is none of these, as the user's own are. */
  static Optional<HandlerName> of(String text) {
    return Arrays.stream(values()).filter(name -> name.toString().equals(text)).findFirst();
  }

  /** All names, each put like this. */
  static String all(Function<String, String> put) {
    return Arrays.stream(values())
        .map(HandlerName::toString)
        .map(put)
        .collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
