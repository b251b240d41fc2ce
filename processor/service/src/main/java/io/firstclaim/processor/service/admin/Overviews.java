package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditAnswer;
import io.firstclaim.processor.audit.api.Coverage;
import io.firstclaim.processor.audit.api.Dead;
import io.firstclaim.processor.audit.api.Listing;
import io.firstclaim.processor.audit.api.Minutes;
import io.firstclaim.processor.audit.api.Violation;
import io.firstclaim.processor.service.acts.Acknowledgements;
import io.firstclaim.processor.service.acts.Dismissals;
import io.firstclaim.processor.service.admin.Overview.Breach;
import io.firstclaim.processor.service.admin.Overview.Count;
import io.firstclaim.processor.service.config.ServiceSettings;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Adds up what the instances of this zone know of all zones: each has the records of some
 * partitions. Thread-safe; may block for some seconds.
 */
@Singleton
final class Overviews {
  private static final Duration BACK = Duration.ofHours(1);
  private static final int MOST_COUNTED = 1_000;

  private final Audit audit;
  private final Dismissals dismissals;
  private final Acknowledgements seen;
  private final Peers peers;
  private final Acts acts;
  private final String self;
  private final TimeSource time;

  Overviews(
      Audit audit,
      Dismissals dismissals,
      Acknowledgements seen,
      Peers peers,
      Acts acts,
      ServiceSettings settings,
      TimeSource time) {
    this.audit = audit;
    this.dismissals = dismissals;
    this.seen = seen;
    this.peers = peers;
    this.acts = acts;
    this.self = settings.engine().claim().store().holder();
    this.time = time;
  }

  /** What became of records, or why that cannot be said. */
  sealed interface OverviewResult {
    /**
     * It is known.
     *
     * @param overview of all zones
     * @param others the other instances of this zone
     */
    record Available(Overview overview, List<InstanceView> others) implements OverviewResult {}

    /** It is not known now; the reason is for people. */
    record Unavailable(String why) implements OverviewResult {}
  }

  /** What is known now. An instance that is asked by another one answers for itself alone. */
  OverviewResult now() {
    try {
      return known();
    } catch (Problem e) {
      return new OverviewResult.Unavailable(String.valueOf(e.getMessage()));
    }
  }

  private OverviewResult.Available known() {
    boolean isAskedByOne = peers.isAskedByOne();
    Optional<String> noActs = acts.whyNotKnown();
    Instant now = time.now().wall();
    Minutes minutes = here(audit.minutes(now.minus(BACK), now));
    Listing<Violation> violations = here(audit.violations(MOST_COUNTED, Optional.empty()));
    Overview all =
        new Overview(
            minutes.rows().stream().map(ZoneMinute::of).toList(),
            count(here(audit.dead(this::isOpen, MOST_COUNTED, Optional.empty()))),
            count(here(audit.stuck(MOST_COUNTED, Optional.empty()))),
            count(violations),
            violations.items().stream()
                .filter(each -> seen.of(each.id(), each.at()).isPresent())
                .count(),
            Overview.latest(
                violations.items().stream()
                    .map(each -> Breach.of(each, seen.of(each.id(), each.at())))),
            List.of());
    if (noActs.isPresent()) {
      all = all.withoutActs("what operators have done, at %s: %s".formatted(self, noActs.get()));
    }
    Coverage coverage = minutes.coverage();
    if (isAskedByOne) {
      peers.requireAskedFor(coverage);
      return new OverviewResult.Available(all, List.of());
    }
    List<InstanceView> others = new ArrayList<>();
    if (coverage.gap().isPresent()) {
      all = all.without(coverage.gap().get());
    }
    for (Peers.PeerAnswer answer : peers.summaries(coverage.others())) {
      switch (answer) {
        case Peers.PeerAnswer.Said(Address of, Peers.PeerSummary said) -> {
          others.add(said.instance());
          all =
              said.overview().isPresent()
                  ? all.plus(said.overview().get())
                  : all.without(of + ": its audit cannot say now");
        }
        case Peers.PeerAnswer.Silent(Address of, String why) -> all = all.without(of + ": " + why);
      }
    }
    return new OverviewResult.Available(all.shown(), others);
  }

  private boolean isOpen(Dead dead) {
    return !dismissals.have(dead.id(), dead.last().token(), dead.last().at());
  }

  private static Count count(Listing<?> listing) {
    return new Count(listing.items().size(), listing.next().isEmpty());
  }

  private static <T> T here(AuditAnswer<T> answer) {
    return switch (answer) {
      case AuditAnswer.Here<T>(T value) -> value;
      case AuditAnswer.Elsewhere<T>(Address address) -> throw Problem.notNow("ask " + address);
      case AuditAnswer.NotNow<T>(String why) -> throw Problem.notNow(why);
    };
  }
}
