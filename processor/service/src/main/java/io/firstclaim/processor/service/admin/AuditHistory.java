package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditAnswer;
import io.firstclaim.processor.audit.api.Dead;
import io.firstclaim.processor.audit.api.Listing;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.service.acts.Dismissals;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the audit knows. Each instance of a zone keeps the records of some partitions; what another
 * one keeps is asked there, once: who is asked by an instance answers for itself alone.
 */
@Singleton
final class AuditHistory implements OutcomeHistory {
  private final Audit audit;
  private final Dismissals dismissals;
  private final Peers peers;

  AuditHistory(Audit audit, Dismissals dismissals, Peers peers) {
    this.audit = audit;
    this.dismissals = dismissals;
    this.peers = peers;
  }

  private boolean isOpen(Dead dead) {
    return !dismissals.have(dead.id(), dead.last().token(), dead.last().at());
  }

  @Override
  public Optional<List<OutcomeView>> of(RecordId id) {
    return switch (audit.history(id)) {
      case AuditAnswer.Here<List<Outcome>>(var outcomes) ->
          Optional.of(outcomes.stream().map(OutcomeView::of).toList());
      case AuditAnswer.Elsewhere<List<Outcome>>(Address address) ->
          peers.isAskedByOne() ? Optional.empty() : peers.history(address, id);
      case AuditAnswer.NotNow<List<Outcome>> _ -> Optional.empty();
    };
  }

  @Override
  public ListPage<OutcomeView> dead(int limit, @Nullable RecordId after) {
    return page(
        "dead",
        audit.dead(this::isOpen, limit, Optional.ofNullable(after)),
        dead -> OutcomeView.of(dead.id(), dead.last(), dead.since()),
        limit,
        after);
  }

  @Override
  public ListPage<OutcomeView> stuck(int limit, @Nullable RecordId after) {
    return page(
        "stuck",
        audit.stuck(limit, Optional.ofNullable(after)),
        stuck -> OutcomeView.of(stuck.id(), stuck.last(), stuck.since()),
        limit,
        after);
  }

  @Override
  public ListPage<OutcomeView> search(SearchFilter filter, int limit, @Nullable RecordId after) {
    return page(
        "search?" + filter.query(),
        audit.search(filter.prefixBytes(), filter::takes, limit, Optional.ofNullable(after)),
        found -> OutcomeView.of(found.id(), found.outcome()),
        limit,
        after);
  }

  private <T> ListPage<OutcomeView> page(
      String list,
      AuditAnswer<Listing<T>> answer,
      Function<T, OutcomeView> view,
      int limit,
      @Nullable RecordId after) {
    Listing<T> own =
        switch (answer) {
          case AuditAnswer.Here<Listing<T>>(var listing) -> listing;
          case AuditAnswer.Elsewhere<Listing<T>>(Address address) ->
              throw Problem.notNow("ask " + address);
          case AuditAnswer.NotNow<Listing<T>>(String why) ->
              throw Problem.notNow("the audit: " + why);
        };
    ListPage<OutcomeView> part =
        new ListPage<>(
            own.items().stream().map(view).toList(),
            own.next().map(RecordId::text).orElse(null),
            list.startsWith("search") ? own.lookedAt() : null);
    if (peers.isAskedByOne()) {
      peers.requireAskedFor(own.coverage());
      return merge(List.of(part), limit);
    }
    own.coverage()
        .gap()
        .ifPresent(
            gap -> {
              throw Problem.notNow("the audit: " + gap);
            });
    List<ListPage<OutcomeView>> parts = new ArrayList<>(List.of(part));
    own.coverage().others().forEach(other -> parts.add(peers.list(other, list, limit, after)));
    return merge(parts, limit);
  }

  /** The parts as one page, which ends where one of the parts is not known any further. */
  static ListPage<OutcomeView> merge(List<ListPage<OutcomeView>> parts, int limit) {
    Optional<RecordId> known =
        parts.stream()
            .map(ListPage::next)
            .flatMap(next -> Optional.ofNullable(next).map(Ids::ofText).stream())
            .min(Comparator.naturalOrder());
    List<OutcomeView> items =
        parts.stream()
            .flatMap(part -> part.items().stream())
            .filter(item -> known.isEmpty() || Ids.ofText(item.id()).compareTo(known.get()) <= 0)
            .sorted(Comparator.comparing(item -> Ids.ofText(item.id())))
            .toList();
    Integer lookedAt =
        parts.stream()
            .flatMap(part -> Stream.ofNullable(part.lookedAt()))
            .reduce(Integer::sum)
            .orElse(null);
    return items.size() > limit
        ? new ListPage<>(items.subList(0, limit), items.get(limit - 1).id(), lookedAt)
        : new ListPage<>(items, known.map(RecordId::text).orElse(null), lookedAt);
  }
}
