package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.service.Service;
import jakarta.inject.Singleton;
import java.util.Optional;

/** The claims that the service works on. */
@Singleton
final class StoredClaims implements Claims {
  private final Service service;

  StoredClaims(Service service) {
    this.service = service;
  }

  @Override
  public Optional<ClaimRecord> find(RecordId id) {
    return service
        .claims()
        .orElseThrow(() -> Problem.notNow("the lock store has not answered yet"))
        .find(id);
  }
}
