package io.firstclaim.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NonceTest {
  @Test
  void print_isThirtyTwoHexDigits_leadingZerosIncluded() {
    assertThat(new Nonce(0, 1)).hasToString("00000000000000000000000000000001");
    assertThat(new Nonce(-1, Long.MIN_VALUE)).hasToString("ffffffffffffffff8000000000000000");
  }

  @Test
  void parse_isTheInverseOfPrint() {
    for (long low : new long[] {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0x0123456789abcdefL}) {
      for (long high : new long[] {0, -1, Long.MIN_VALUE}) {
        var nonce = new Nonce(high, low);
        assertThat(Nonce.parse(nonce.toString())).isEqualTo(nonce);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0123456789abcdef0123456789abcde",
        "0123456789abcdef0123456789abcdef0",
        "0123456789abcdefg123456789abcdef",
        "-123456789abcdef0123456789abcdef"
      })
  void parse_refusesAnythingElse(String text) {
    assertThatThrownBy(() -> Nonce.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void next_countsUp_andWrapsWithoutTouchingTheHighHalf() {
    assertThat(new Nonce(7, 41).next()).isEqualTo(new Nonce(7, 42));
    assertThat(new Nonce(7, -1).next()).isEqualTo(new Nonce(7, 0));
    assertThat(new Nonce(7, Long.MAX_VALUE).next()).isEqualTo(new Nonce(7, Long.MIN_VALUE));
  }

  @Test
  void renewalAfterYearsOfOneEachSecond_isUnderItsGrant() {
    var grant = new Nonce(7, 41);
    long renewals = Duration.ofDays(30 * 366).toSeconds();

    assertThat(new Nonce(7, 41 + renewals).isUnder(grant)).isTrue();
    assertThat(grant.lastUnder().isUnder(grant)).isTrue();
    assertThat(grant.lastUnder().next().isUnder(grant)).isFalse();
    assertThat(new Nonce(7, 40).isUnder(grant)).as("what was written before").isFalse();
    assertThat(new Nonce(8, 42).isUnder(grant)).as("another's").isFalse();
  }

  @Test
  void lastUnderAGrant_isNoLessThanIt_asText_evenIfTheLowHalfWouldWrap() {
    for (long low : new long[] {0, Long.MAX_VALUE, Long.MIN_VALUE, -2, -1}) {
      var grant = new Nonce(7, low);
      assertThat(grant.lastUnder().toString()).isGreaterThanOrEqualTo(grant.toString());
      assertThat(grant.lastUnder().isUnder(grant)).isTrue();
    }
  }

  @Test
  void randomNonces_differInBothHalves() {
    assertThat(Stream.generate(Nonce::random).limit(1000).map(Nonce::high).distinct())
        .hasSize(1000);
    assertThat(Stream.generate(Nonce::random).limit(1000).map(Nonce::low).distinct()).hasSize(1000);
  }
}
