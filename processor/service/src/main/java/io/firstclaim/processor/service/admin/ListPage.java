package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.micronaut.core.annotation.Introspected;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Part of a list.
 *
 * @param items sorted by ID
 * @param next what to ask for {@code after}; null if this is the end
 * @param lookedAt of a search, how many records were looked at: more may be found after {@code
 *     next}, though this page is short or has no items
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record ListPage<T>(
    List<T> items,
    @Nullable String next,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Integer lookedAt) {
  /** How many items a page has if the request does not say. */
  static final int USUAL = 100;

  private static final int MOST = 1_000;

  /** Keeps a copy. */
  ListPage {
    items = List.copyOf(items);
  }

  /** Part of a list that is no search. */
  static <T> ListPage<T> of(List<T> items, @Nullable String next) {
    return new ListPage<>(items, next, null);
  }

  /** The limit of a request, within bounds. */
  static int limit(@Nullable Integer given) {
    if (given == null) {
      return USUAL;
    }
    if (given < 1 || given > MOST) {
      throw Problem.wrong("limit", given, "give a number from 1 to " + MOST);
    }
    return given;
  }
}
