package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which claims are worth a place in a common request. */
class FirstClaimsTest {
  private final FirstClaims claims = new FirstClaims();

  /**
   * Makes so many claims of records that nobody was seen to hold; of every five, so many come too
   * late.
   */
  private void answered(String run, int many, int ofFiveTooLate) {
    IntStream.range(0, many).forEach(i -> claims.answered(run + i, i % 5 >= ofFiveTooLate));
  }

  @Test
  void claim_isLikelyTheFirst_untilTheOppositeIsSeen() {
    assertThat(claims.isLikely("a")).isTrue();
  }

  @Test
  void recordThatWasFound_isNoLongerLikelyToBeNew_andOthersAre() {
    claims.found("a");
    assertThat(claims.isLikely("a")).isFalse();
    assertThat(claims.isLikely("b")).isTrue();
  }

  @Test
  void claimThatComesTooLate_makesItsOwnRecordKnown() {
    claims.answered("a", false);
    assertThat(claims.isLikely("a")).isFalse();
    assertThat(claims.isLikely("b")).isTrue();
  }

  @Test
  void zoneThatLosesFewerThanHalfOfItsClaims_staysWithCommonRequests() {
    answered("few-", 1_000, 2);
    assertThat(claims.isLikely("another")).isTrue();
  }

  @Test
  void zoneThatLosesMostOfItsClaims_sendsThemAlone_untilItLosesFewer() {
    answered("most-", 200, 4);
    assertThat(claims.isLikely("another")).isFalse();

    answered("few-", 200, 1);
    assertThat(claims.isLikely("yet another")).isTrue();
  }

  @Test
  void claimsOnRecordsThatAreKnown_sayNothingOfTheOthers() {
    claims.found("known");
    IntStream.range(0, 1_000).forEach(i -> claims.answered("known", false));
    assertThat(claims.isLikely("another")).isTrue();
  }
}
