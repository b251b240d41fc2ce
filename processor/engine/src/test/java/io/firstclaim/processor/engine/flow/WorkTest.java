package io.firstclaim.processor.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.flow.Work.Task;
import io.firstclaim.processor.engine.identity.ClaimId;
import io.firstclaim.processor.engine.identity.Identity;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkTest {
  private static final RecordHandler HANDLER = _ -> HandlerResult.done();
  private static final RecordId ID = RecordId.of("order-1");
  private static final RedriveId FREED = new RedriveId("redrive-1");
  private static final byte[] VALUE = {1, 2};
  private static final Fingerprint OTHER = Fingerprint.of(new byte[] {3});

  private static Work found(RecordId id, byte[] value) {
    return Work.of(new Identity.Found(id), value, HANDLER, null);
  }

  @Test
  void identifiedRecord_isClaimedAndReportedUnderItsId_andHandled() {
    assertThat(found(ID, VALUE))
        .isEqualTo(
            new Work(
                ClaimId.of(ID),
                ID,
                Fingerprint.of(VALUE),
                new Task.Handle(HANDLER),
                Outcome.Kind.DEAD,
                List.of(),
                null));
  }

  @Test
  void recordWithoutValue_hasNoFingerprint_whichIsNotThatOfAnEmptyOne() {
    Work without = Work.of(new Identity.Found(ID), null, HANDLER, null);

    assertThat(without.fingerprint()).isEqualTo(Fingerprint.none());
    assertThat(without.fingerprint()).isNotEqualTo(found(ID, new byte[0]).fingerprint());
  }

  @Test
  void unidentifiedRecord_isClaimedUnderItsStandIn_andGivenUp() {
    RecordId standIn = RecordId.of("unidentified:in:0:7");
    Work work = Work.of(new Identity.Missing(standIn, "no ID"), VALUE, HANDLER, null);

    assertThat(work.claimId()).isEqualTo(ClaimId.of(standIn));
    assertThat(work.reportId()).isEqualTo(standIn);
    assertThat(work.task()).isEqualTo(new Task.GiveUp("no ID"));
    assertThat(work.deadKind()).isEqualTo(Outcome.Kind.DEAD);
  }

  @Test
  void mismatch_isClaimedUnderAStandIn_oneForEachIdAndPayload_reportedUnderTheId() {
    Work mismatch = found(ID, VALUE).mismatched(OTHER);

    assertThat(mismatch.reportId()).isEqualTo(ID);
    assertThat(mismatch.fingerprint()).isEqualTo(Fingerprint.of(VALUE));
    assertThat(mismatch.deadKind()).isEqualTo(Outcome.Kind.MISMATCH);
    assertThat(mismatch.claimId().inStore().text()).startsWith("mismatch:");
    assertThat(mismatch.claimId())
        .isEqualTo(found(ID, VALUE).mismatched(Fingerprint.none()).claimId())
        .isEqualTo(ClaimId.ofMismatch(ID, Fingerprint.of(VALUE)))
        .isNotEqualTo(found(ID, new byte[] {9}).mismatched(OTHER).claimId())
        .isNotEqualTo(found(RecordId.of("order-2"), VALUE).mismatched(OTHER).claimId());
    assertThat(mismatch.task())
        .isInstanceOfSatisfying(
            Task.GiveUp.class,
            giveUp ->
                assertThat(giveUp.cause())
                    .contains(OTHER.toString())
                    .contains(Fingerprint.of(VALUE).toString()));
  }

  @Test
  void longestId_hasAStandInToo() {
    RecordId longest = RecordId.of(new byte[RecordId.MAX_BYTES]);

    assertThat(found(longest, VALUE).mismatched(OTHER).reportId()).isEqualTo(longest);
  }

  @Test
  void verdict_replacesTheHandler_andNothingElse() {
    Work attempted = found(ID, VALUE);
    Work verdict = attempted.givenUp("no luck", 2, FREED);

    assertThat(verdict)
        .isEqualTo(
            new Work(
                ClaimId.of(ID),
                ID,
                Fingerprint.of(VALUE),
                new Task.GiveUpAfter("no luck", 2, attempted, FREED),
                Outcome.Kind.DEAD,
                List.of(),
                null));
    assertThat(verdict.givenUp("no luck", 4, null)).as("it stands").isSameAs(verdict);
  }
}
