package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.RecordId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What is known from outcomes. Thread-safe; may block for some seconds. */
interface OutcomeHistory {
  /** A record's outcomes, oldest first; empty if they cannot be said now. */
  Optional<List<OutcomeView>> of(RecordId id);

  /**
   * Records that were given up and neither completed nor dismissed since: their last outcomes.
   *
   * @throws Problem if that cannot be said now
   */
  ListPage<OutcomeView> dead(int limit, @Nullable RecordId after);

  /**
   * Records that were begun long ago and not settled: their last outcomes.
   *
   * @throws Problem if that cannot be said now
   */
  ListPage<OutcomeView> stuck(int limit, @Nullable RecordId after);

  /**
   * Records by their history: of each, the latest outcome that is looked for.
   *
   * @throws Problem if that cannot be said now
   */
  ListPage<OutcomeView> search(SearchFilter filter, int limit, @Nullable RecordId after);
}
