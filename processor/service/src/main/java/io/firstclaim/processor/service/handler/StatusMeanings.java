package io.firstclaim.processor.service.handler;

import java.util.Set;

/**
 * What the status of an HTTP answer says of the record that was posted. Immutable.
 *
 * @param unavailableOn statuses that count as if the service were not there, whatever they mean to
 *     others
 * @param deadLetterOn statuses that are final, whatever they mean to others
 */
public record StatusMeanings(Set<Integer> unavailableOn, Set<Integer> deadLetterOn) {
  /** The meanings that statuses have by HTTP itself. */
  public static final StatusMeanings DEFAULT = new StatusMeanings(Set.of(), Set.of());

  enum Meaning {
    DONE,
    /** It may be the record's fault; another attempt may do better. */
    FAILED,
    /** It says nothing of the record. */
    UNAVAILABLE,
    /** There is nothing at this place for the record: it is the record's fault, or the URL's. */
    NOTHING_THERE,
    /** No attempt will do better. */
    FINAL
  }

  /** Copies the statuses. */
  public StatusMeanings {
    unavailableOn = Set.copyOf(unavailableOn);
    deadLetterOn = Set.copyOf(deadLetterOn);
  }

  Meaning of(int status) {
    if (unavailableOn.contains(status)) {
      return Meaning.UNAVAILABLE;
    }
    if (deadLetterOn.contains(status)) {
      return Meaning.FINAL;
    }
    return switch (status) {
      case 401, 403, 407, 429, 502, 503, 504 -> Meaning.UNAVAILABLE;
      case 408, 425 -> Meaning.FAILED;
      case 404, 405, 410 -> Meaning.NOTHING_THERE;
      default ->
          switch (status / 100) {
            case 2 -> Meaning.DONE;
            case 3 -> Meaning.UNAVAILABLE;
            case 5 -> Meaning.FAILED;
            default -> Meaning.FINAL;
          };
    };
  }

  /** What to do where a status says that there is nothing, and nothing was done so far. */
  static String remedyOfWrongUrl(int status) {
    return "; nothing was done here since the start: set firstclaim.handler.http.url right, or if"
        + " it is, have %d in firstclaim.handler.http.dead-letter-on".formatted(status);
  }

  /** What to do about a status that would be the same for every record; empty for any other. */
  static String remedy(int status) {
    return switch (status) {
      case 401 ->
          "; give the credentials in firstclaim.handler.http.url: https://USER:PASSWORD@HOST";
      case 403 -> "; have the service permit these records to be posted";
      case 407 -> "; have the proxy let this host through, or go past it: -Dhttp.nonProxyHosts";
      default ->
          status / 100 == 3
              ? "; redirects are not followed: set firstclaim.handler.http.url to the new place"
              : "";
    };
  }
}
