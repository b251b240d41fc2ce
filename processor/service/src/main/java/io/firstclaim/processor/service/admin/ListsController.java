package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.api.HeldRecord;
import io.firstclaim.processor.engine.api.Page;
import io.firstclaim.processor.engine.api.ParkedRecord;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.instance.Service;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.annotation.Introspected;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.http.annotation.RequestBean;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lists of records. */
@Requires(condition = TakesRecords.class)
@Controller("/api")
@ExecuteOn(AdminThreads.NAME)
class ListsController {
  private final Service service;
  private final OutcomeHistory history;
  private final Acts acts;

  ListsController(Service service, OutcomeHistory history, Acts acts) {
    this.service = service;
    this.history = history;
    this.acts = acts;
  }

  /**
   * A record that this instance has a lease on.
   *
   * @param since when it was claimed
   */
  @Introspected
  record HeldView(
      String id, String topic, int partition, long offset, String since, long token, int attempt) {
    private static HeldView of(HeldRecord held) {
      return new HeldView(
          held.id(),
          held.topic(),
          held.partition(),
          held.offset(),
          held.since().toString(),
          held.token(),
          held.attempt());
    }
  }

  /**
   * A record that this instance has and cannot go on with.
   *
   * @param since when it was delivered
   * @param waitsFor what it waits for
   * @param until when that is over or looked at again, if that is known
   * @param by who or what is in its way, if that has a name
   */
  @Introspected
  record ParkedView(
      String id,
      String topic,
      int partition,
      long offset,
      String since,
      String waitsFor,
      @Nullable String until,
      @Nullable String by) {
    private static ParkedView of(ParkedRecord parked) {
      return new ParkedView(
          parked.id(),
          parked.topic(),
          parked.partition(),
          parked.offset(),
          parked.since().toString(),
          parked.waitsFor().name(),
          parked.until().map(Instant::toString).orElse(null),
          parked.by().orElse(null));
    }
  }

  /** Records that were given up, and neither completed nor dismissed since. */
  @Get("/dead")
  ListPage<OutcomeView> dead(
      @Nullable @QueryValue Integer limit, @Nullable @QueryValue("after") String after) {
    int most = ListPage.limit(limit);
    RecordId last = id(after);
    acts.requireKnown(); // of what is dismissed
    return history.dead(most, last);
  }

  /** Records that were begun long ago and not settled since. */
  @Get("/stuck")
  ListPage<OutcomeView> stuck(
      @Nullable @QueryValue Integer limit, @Nullable @QueryValue("after") String after) {
    return history.stuck(ListPage.limit(limit), id(after));
  }

  /**
   * Records by their history: of each, the latest outcome for which all holds that is given. Those
   * that begin with {@code prefix} are found at once; else some thousands of records are looked at
   * for a page, {@code lookedAt}, and {@code next} goes on behind them.
   */
  @Get("/search")
  ListPage<OutcomeView> search(
      @RequestBean SearchFilter filter,
      @Nullable @QueryValue Integer limit,
      @Nullable @QueryValue("after") String after) {
    filter.requireRight();
    return history.search(filter, ListPage.limit(limit), id(after));
  }

  /** Records that this instance has a lease on. */
  @Get("/held")
  ListPage<HeldView> held(
      @Nullable @QueryValue Integer limit, @Nullable @QueryValue("after") String after) {
    int most = ListPage.limit(limit);
    return page(engine -> engine.held(most, after), HeldView::of);
  }

  /** Records that this instance has and cannot go on with, and what they wait for. */
  @Get("/parked")
  ListPage<ParkedView> parked(
      @Nullable @QueryValue Integer limit, @Nullable @QueryValue("after") String after) {
    int most = ListPage.limit(limit);
    return page(engine -> engine.parked(most, after), ParkedView::of);
  }

  private <T, V> ListPage<V> page(Function<Engine, Page<T>> list, Function<T, V> view) {
    try {
      var page = list.apply(service.engine());
      return ListPage.of(page.items().stream().map(view).toList(), page.next().orElse(null));
    } catch (IllegalArgumentException e) {
      throw Problem.wrong(String.valueOf(e.getMessage()));
    } catch (IllegalStateException e) {
      throw Problem.notNow(String.valueOf(e.getMessage()));
    }
  }

  private static @Nullable RecordId id(@Nullable String text) {
    return text == null ? null : Ids.ofText(text);
  }
}
