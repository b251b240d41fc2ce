package io.firstclaim.lock.deduplicator;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Backoff;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final RetryPolicy policy = policy(5, SECOND, Duration.ofMinutes(1));

  private static RetryPolicy policy(int maxAttempts, Duration backoff, Duration maxBackoff) {
    return new RetryPolicy(maxAttempts, new Backoff(backoff, maxBackoff));
  }

  private Duration[] samples(RetryPolicy of, int attempt) {
    return IntStream.range(0, 500).mapToObj(_ -> of.after(attempt)).toArray(Duration[]::new);
  }

  @Test
  void lastAttempt_isTheConfiguredOne_orAnyAfterIt() {
    assertThat(policy.isLast(4)).isFalse();
    assertThat(policy.isLast(5)).isTrue();
    assertThat(policy.isLast(6)).isTrue();
    assertThat(policy(1, SECOND, SECOND).isLast(1)).isTrue();
  }

  @Test
  void grantsAfterTheLastAttempt_areNotCountedAsAttempts() {
    assertThat(policy.made(1)).isEqualTo(1);
    assertThat(policy.made(5)).isEqualTo(5);
    assertThat(policy.made(9)).isEqualTo(5);
  }

  @Test
  void ofOneAttempt_twoAreMadeAfterADeath_andNoMoreThanOneIsSureOnceItIsGivenUp() {
    RetryPolicy once = policy(1, SECOND, SECOND);

    assertThat(once.made(1)).isEqualTo(1);
    assertThat(once.made(2)).isEqualTo(2);
    assertThat(once.made(3)).isEqualTo(1);
    assertThat(once.made(4)).isEqualTo(1);
  }

  @Test
  void configuredBackoffOfDays_isNotCut() {
    Duration week = Duration.ofDays(7);

    assertThat(policy(5, week, week).after(1, Optional.empty())).isBetween(week.dividedBy(2), week);
  }

  @Test
  void backoff_doubles_upToItsBound_itsSecondHalfRandom() {
    long[] wholeSeconds = {1, 2, 4, 8, 16, 32, 60, 60};
    for (int attempt = 1; attempt <= wholeSeconds.length; attempt++) {
      Duration whole = Duration.ofSeconds(wholeSeconds[attempt - 1]);
      assertThat(samples(policy, attempt))
          .allSatisfy(wait -> assertThat(wait).isBetween(whole.dividedBy(2), whole))
          .anySatisfy(wait -> assertThat(wait).isLessThan(whole.multipliedBy(6).dividedBy(10)))
          .anySatisfy(wait -> assertThat(wait).isGreaterThan(whole.multipliedBy(9).dividedBy(10)));
    }
  }

  @Test
  void attemptsWithoutEnd_andTheLongestSettings_overflowNothing() {
    Duration longest = Duration.ofDays(36_500);
    RetryPolicy slow = policy(Integer.MAX_VALUE, longest, longest);
    for (int attempt : new int[] {1, 20, 21, 63, 64, 65, 1000, Integer.MAX_VALUE}) {
      assertThat(policy.after(attempt)).isBetween(Duration.ZERO, Duration.ofMinutes(1));
      assertThat(slow.after(attempt)).isBetween(longest.dividedBy(2), longest);
    }
  }

  @Test
  void shortestBackoff_isStillAWait() {
    Duration nano = Duration.ofNanos(1);

    assertThat(policy(5, nano, nano).after(1)).isEqualTo(nano);
  }

  @Test
  void waitThatTheHandlerAskedFor_counts_ifItIsLonger_butNotForEver() {
    assertThat(policy.after(1, Optional.empty())).isBetween(Duration.ofMillis(500), SECOND);
    assertThat(policy.after(1, Optional.of(Duration.ofMinutes(5))))
        .isEqualTo(Duration.ofMinutes(5));
    assertThat(policy.after(1, Optional.of(Duration.ofMillis(1))))
        .isBetween(Duration.ofMillis(500), SECOND);
    assertThat(policy.after(1, Optional.of(Duration.ofSeconds(Long.MIN_VALUE))))
        .isBetween(Duration.ofMillis(500), SECOND);
    assertThat(policy.after(1, Optional.of(Duration.ofSeconds(Long.MAX_VALUE))))
        .isEqualTo(Duration.ofDays(1));
  }
}
