package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.RecordId;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Nothing, as nobody reads the outcomes. */
@Singleton
final class NoPast implements Past {
  @Override
  public Optional<List<Event>> of(RecordId id) {
    return Optional.empty();
  }

  @Override
  public Page<Event> dead(int limit, @Nullable RecordId after) {
    throw off();
  }

  @Override
  public Page<Event> stuck(int limit, @Nullable RecordId after) {
    throw off();
  }

  private static Problem off() {
    return Problem.notNow("the audit does not run: set firstclaim.audit.enabled=true");
  }
}
