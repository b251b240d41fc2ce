package io.firstclaim.lock.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.UnreadableClaimContract;
import java.util.List;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;

class S3UnreadableClaimTest extends UnreadableClaimContract {
  private static final String BODY = "somebody else's";
  private static final ClaimSettings SETTINGS = ClaimSettings.of("lost-" + Nonce.random(), "a");
  private static final RecordId ID = RecordId.of("order-4711");

  @Override
  protected ClaimStore store(ClaimSettings settings) {
    return LocalS3.store(settings, time, time);
  }

  private static String place(String key) {
    return LocalS3.bucket(LocalS3.client()).key(key);
  }

  @Override
  protected void overwrite(String key) {
    LocalS3.client()
        .putObject(put -> put.bucket(LocalS3.BUCKET).key(place(key)), RequestBody.fromString(BODY));
  }

  @Override
  protected boolean isAsOverwritten(String key) {
    return LocalS3.client()
        .getObjectAsBytes(get -> get.bucket(LocalS3.BUCKET).key(place(key)))
        .asUtf8String()
        .equals(BODY);
  }

  @Test
  void recordThatEnds_isSettled_thoughAResourceOfItCannotBeReadByThen() {
    RecordId resource = RecordId.of("account-x").asResource();
    RecordId unreadable = RecordId.of("account-a").asResource();
    var a = new Claimant(store(SETTINGS), time);
    Claim claim = a.newClaim(ID).withResources(List.of(unreadable, resource));
    Lease lease = ((ClaimResult.Granted) a.store().claim(claim)).lease();
    overwrite(unreadable.key(SETTINGS.namespace()));

    assertThat(a.store().complete(lease, null)).isInstanceOf(SettleResult.Settled.class);

    assertThat(a.claim(ID)).isInstanceOf(ClaimResult.Done.class);
    Claim next = a.newClaim(RecordId.of("order-4712")).withResources(List.of(resource));
    assertThat(a.store().claim(next)).isInstanceOf(ClaimResult.Granted.class);
  }
}
