package io.firstclaim.processor.service.claims;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ClaimStoreContract;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The contract of every claim store, through an HTTP client, on a network that loses every third
 * answer once the request was applied, and delivers every fifth request twice. What HTTP promises
 * otherwise, or has not, is named with its reason.
 */
@ExtendWith(ContractOverHttpTest.WhatHttpHas.class)
class ContractOverHttpTest extends ClaimStoreContract {
  private static final String WATCHES =
      "no client watches a lease: the server's clock, whose error is bounded, judges it";
  private static final String RENEWS =
      "a handle stays good over all renewals, and a repeated claim is renewed: ClaimsApiTest";
  private static final String COUNTS =
      "the server counts an attempt when it grants it, as its work is about to begin: ClaimsApiTest";
  private static final String ONE_NAME = "a lock has one name: LocksApiTest";
  private static final String REDRIVES = "the answer does not say that a redrive freed it";
  private static final String TAKEN_FROM = "the answer does not say whose lease was over";

  private static final Map<String, String> OTHERWISE =
      Map.ofEntries(
          Map.entry("firstClaim_isGranted_withToken1AndAttempt1", "the nonce is the server's"),
          Map.entry("sameClaimSentAgain_afterItsLeaseIsOver_isStillTheSameGrant", RENEWS),
          Map.entry("oldClaim_doesNotChangeWhatCameAfter", RENEWS),
          Map.entry("renewalRepeatedWithTheSameLease_isSettled_andCountsFromTheOldStart", RENEWS),
          Map.entry("leaseRenewedTwiceSince_isLost", RENEWS),
          Map.entry("stepAfterARenewalWhoseAnswerWasLost_isSettled", RENEWS),
          Map.entry(
              "leaseOfAClaimThatIsGrantedTwice_endsWithTheFirstGrant",
              "a claim's key is good for one grant: ClaimsApiTest"),
          Map.entry(
              "completionRepeatedWithAnotherResult_keepsTheFirst",
              "and is told so by 409: ClaimsApiTest"),
          Map.entry(
              "release_isRecorded_andFreesTheOtherResources_thoughOneIsAnothersByNow", COUNTS),
          Map.entry("attemptThatIsTakenBack_isGrantedAgain_withAHigherToken", COUNTS),
          Map.entry("tokenRisesWithEveryGrant_andAttemptsWithTheFirstAndThoseThatBegin", COUNTS),
          Map.entry("beginningWhoseAnswerIsLost_isRecordedOnce_evenAfterALostRenewal", COUNTS),
          Map.entry(
              "causeOfAnyTextAndLength_isKept_cutAndWellFormed",
              "a cause of more than 1000 characters is refused: ClaimsApiTest"),
          Map.entry("secondClaim_isHeld_withHolderTokenRemainingAndSighting", WATCHES),
          Map.entry("sightingOfAnUnchangedLease_isKept_andRemainingShrinks", WATCHES),
          Map.entry("sighting_countsFromAfterTheClaimWasSent", WATCHES),
          Map.entry(
              "holderAnHourAhead_isTakenOver_onceWatchedUnchangedForSixFifthsOfALease", WATCHES),
          Map.entry("sightingOfAnotherTokenOrNonce_isNoEvidence", WATCHES),
          Map.entry("watchedLeaseOfAnotherLength_isRespectedForItsOwnLength", WATCHES),
          Map.entry("watchedLeaseOfAnotherPayload_isAMismatch", WATCHES),
          Map.entry(
              "resourceThatIsWatchedUnchanged_isTakenOver_whateverItsHoldersClockSaid", WATCHES),
          Map.entry("expiredLease_isTakenOver_withHigherToken", TAKEN_FROM + ": ClaimsApiTest"),
          Map.entry("ownExpiredLease_isTakenOver_asAnybodyElses", TAKEN_FROM + ": ClaimsApiTest"),
          Map.entry(
              "find_showsWhatIsStored_inEveryState",
              "a claim whose answer is lost is renewed by its repetition, with another nonce"),
          Map.entry("redrive_isKeptByTakeoversAndReleases_andByARecordWithResources", REDRIVES),
          Map.entry("claimSentAgain_afterARedrive_isGrantedTheSame_withTheRedrive", REDRIVES),
          Map.entry("namespaces_areSeparate", "a server has one namespace: ClaimsOverHttpIT"),
          Map.entry(
              "recordsMutexesResourcesAndRedrives_ofOneName_areApart",
              "mutexes are requests of their own: LocksApiTest"),
          Map.entry("severalMutexes_excludeEachOfThem", ONE_NAME),
          Map.entry("severalMutexes_ofWhichOneIsAnothersByNow_areGivenBack", ONE_NAME));

  private static ClaimApi api;
  private static FaultProxy network;
  private static ClaimApi client;

  /** Passes over what HTTP has otherwise. */
  static final class WhatHttpHas implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return context
          .getTestMethod()
          .map(Method::getName)
          .map(OTHERWISE::get)
          .map(ConditionEvaluationResult::disabled)
          .orElseGet(() -> ConditionEvaluationResult.enabled("HTTP has it too"));
    }
  }

  @BeforeAll
  static void start() throws InterruptedException {
    // The contract's releases are due in a century.
    api =
        ClaimApi.start(
            Map.of(ClaimsTestBeans.SWITCHED, "true", "firstclaim.claim.retention", "36500d"));
    network = FaultProxy.start(api.address());
    client = api.through(network.endpoint());
    network.add(Rule.always(Match.everyNth(3), new Fault.ResetAfterApply()));
    network.add(Rule.always(Match.everyNth(5), new Fault.Duplicate()));
  }

  @AfterAll
  static void stop() {
    network.close();
    api.close();
  }

  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource machine) {
    api.switchTo(time);
    return new HttpClaimStore(client, api.store(), settings, machine);
  }

  /** {@code Retry-After} has whole seconds. */
  @Override
  protected Duration tick() {
    return Duration.ofSeconds(1);
  }

  @Test
  void whatIsPassedOver_isInTheContract() {
    Set<String> facts = new HashSet<>();
    for (Class<?> type = ClaimStoreContract.class; type != null; type = type.getSuperclass()) {
      for (Method each : type.getDeclaredMethods()) {
        facts.add(each.getName());
      }
    }
    assertThat(facts).containsAll(OTHERWISE.keySet());
  }
}
