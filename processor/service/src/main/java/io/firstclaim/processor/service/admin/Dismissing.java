package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.Dismissals;
import io.firstclaim.processor.service.acts.NotWrittenException;
import io.firstclaim.processor.service.acts.RedriveSpec.Selection;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.instance.Service;
import io.firstclaim.processor.service.redrive.Redrives;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Writes down that dead records need no redrive. Nothing happens to their claims and dead letters:
 * they leave the list of the dead, and redrives of many pass them over. Thread-safe.
 */
@Singleton
final class Dismissing {
  /** How many are dismissed at once, at most. */
  static final int MOST_AT_ONCE = 10_000;

  private static final int PAGE = 1_000;

  /** How many share a message: with the longest IDs, it is half of what a broker takes. */
  private static final int IN_A_MESSAGE = 150;

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final OutcomeHistory history;
  private final Dismissals dismissals;
  private final Redrives redrives;
  private final Service service;
  private final Duration maxSkew;
  private final TimeSource time;

  Dismissing(
      OutcomeHistory history,
      Dismissals dismissals,
      Redrives redrives,
      Service service,
      ServiceSettings settings,
      TimeSource time) {
    this.history = history;
    this.dismissals = dismissals;
    this.redrives = redrives;
    this.service = service;
    this.maxSkew = settings.engine().claim().store().maxSkew();
    this.time = time;
  }

  /**
   * The dead that a filter takes.
   *
   * @param filter the same, but for those that die from now on
   * @param isAll whether these are all that there are
   */
  record Found(Selection.Filter filter, List<OutcomeView> dead, boolean isAll) {}

  /**
   * The dead that this filter takes, as they stand now. One that died since is among them only if
   * the clocks leave it open.
   *
   * @param limit how many at most
   * @throws Problem if that cannot be said now
   */
  Found find(Selection.Filter filter, int limit) {
    Moment begin = time.now();
    Selection.Filter asOfNow = filter.before(DeadFilter.end(begin, maxSkew));
    Predicate<OutcomeView> taken = DeadFilter.taking(asOfNow);
    List<OutcomeView> found = new ArrayList<>();
    @Nullable RecordId after = null;
    while (time.now().since(begin).compareTo(PATIENCE) < 0) {
      ListPage<OutcomeView> page = history.dead(PAGE, after);
      for (OutcomeView dead : page.items()) {
        if (!taken.test(dead)) {
          continue;
        }
        if (found.size() == limit) {
          return new Found(asOfNow, found, false);
        }
        found.add(dead);
      }
      if (page.next() == null) {
        return new Found(asOfNow, found, true);
      }
      after = Ids.ofText(page.next());
    }
    return new Found(asOfNow, found, false);
  }

  /**
   * Dismisses these; what was dismissed before stays as it was.
   *
   * @param by who says so
   * @param reason why
   * @throws NotWrittenException if that could not be written: some may be dismissed
   * @throws Problem if too many are dismissed already
   */
  void dismiss(List<ActMessage.Death> deaths, String by, String reason)
      throws InterruptedException {
    if (dismissals.size() + deaths.size() > Dismissals.MOST) {
      throw Problem.conflict(
          "%,d are dismissed already, of %,d at most: they are forgotten with their claims"
              .formatted(dismissals.size(), Dismissals.MOST));
    }
    String store =
        service
            .claims()
            .map(ClaimStore::identity)
            .orElseThrow(() -> Problem.notNow("the lock store has not answered yet"));
    String id = RedriveId.random().text();
    String at = time.now().wall().toString();
    for (int from = 0; from < deaths.size(); from += IN_A_MESSAGE) {
      List<ActMessage.Death> some =
          deaths.subList(from, Math.min(from + IN_A_MESSAGE, deaths.size()));
      redrives.log().tell(new ActMessage.Dismissed(id, store, some, by, reason, at));
    }
  }
}
