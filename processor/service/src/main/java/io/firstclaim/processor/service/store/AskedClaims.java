package io.firstclaim.processor.service.store;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.ReleaseResult;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.regions.Region;

/**
 * Claims in a store of AWS, of which wrong credentials or a wrong Region are told as the wrong
 * settings that they are.
 */
record AskedClaims(ClaimOperations claims, AwsClients service, Region region)
    implements ClaimOperations {
  @Override
  public Optional<ClaimRecord> find(RecordId id) {
    return service.ask(region, () -> claims.find(id));
  }

  @Override
  public ReleaseResult release(RecordId id, String reason) {
    return service.ask(region, () -> claims.release(id, reason));
  }

  @Override
  public ReleaseResult release(RecordId id, long token, String reason) {
    return service.ask(region, () -> claims.release(id, token, reason));
  }

  @Override
  public RedriveResult redrive(
      RecordId id, Fingerprint payload, RedriveId by, @Nullable String reason) {
    return service.ask(region, () -> claims.redrive(id, payload, by, reason));
  }

  @Override
  public boolean undoRedrive(
      RecordId id, RedriveId by, long token, int attempts, ClaimState.Dead end) {
    return service.ask(region, () -> claims.undoRedrive(id, by, token, attempts, end));
  }
}
