package io.firstclaim.simulation;

import io.firstclaim.simulation.Course.Change;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Leaves out of a run that fails what it can: a kind of trouble, then strikes, by halves, quarters
 * and so on to single ones, then records, for as long as what is left fails. What remains is not
 * the least that there is, as every change has all that follows go another way.
 */
final class Shrinker {
  private final Course seed;
  private final Predicate<Course> fails;
  private final Map<Class<? extends Change>, Change> kept = new LinkedHashMap<>();
  private int left;

  private Shrinker(Course seed, Predicate<Course> fails, int mostRuns) {
    this.seed = seed;
    this.fails = fails;
    this.left = mostRuns;
  }

  /**
   * What may be changed while it still fails.
   *
   * @param failing a run that fails
   * @param strikes how many its storm had
   * @param fails whether another run fails as this one does
   * @param mostRuns how many may be tried
   */
  static List<Change> shrink(Course failing, int strikes, Predicate<Course> fails, int mostRuns) {
    Shrinker shrinker = new Shrinker(failing, fails, mostRuns);
    List.of(
            new Change.PreemptOneIn(0),
            new Change.Throttled(0),
            new Change.Loss(0),
            new Change.Slow(0))
        .forEach(shrinker::tries);
    shrinker.leaveStrikesOut(strikes);
    shrinker.leaveRecordsOut();
    return List.copyOf(shrinker.kept.values());
  }

  private Course changed(Collection<Change> changes) {
    Course course = seed;
    for (Change each : changes) {
      course = course.with(each);
    }
    return course;
  }

  /** Keeps a change if all still fails with it. */
  private boolean tries(Change change) {
    Map<Class<? extends Change>, Change> more = new LinkedHashMap<>(kept);
    more.put(change.getClass(), change);
    if (left-- <= 0 || !fails.test(changed(more.values()))) {
      return false;
    }
    kept.put(change.getClass(), change);
    return true;
  }

  private void leaveStrikesOut(int all) {
    List<Integer> strikes = new ArrayList<>();
    for (int i = 1; i <= all; i++) {
      strikes.add(i);
    }
    int part = strikes.size();
    while (part > 0 && left > 0) {
      for (int from = 0; from < strikes.size() && left > 0; ) {
        List<Integer> without = new ArrayList<>(strikes);
        without.subList(from, Math.min(from + part, strikes.size())).clear();
        if (tries(new Change.Strikes(new TreeSet<>(without)))) {
          strikes = without;
        } else {
          from += part;
        }
      }
      part /= 2;
    }
  }

  private void leaveRecordsOut() {
    int records = seed.records();
    while (records > 1 && tries(new Change.Records(records / 2))) {
      records /= 2;
    }
  }
}
