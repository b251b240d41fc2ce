package io.firstclaim.lock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FingerprintTest {
  @Test
  void fingerprint_isTheSha256OfThePayload() {
    assertThat(Fingerprint.of("abc".getBytes(UTF_8)))
        .hasToString("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }

  @Test
  void hash_isTheInverseOfOfHash() {
    Fingerprint payload = Fingerprint.of(new byte[] {1});

    assertThat(Fingerprint.ofHash(payload.hash())).isEqualTo(payload).hasSameHashCodeAs(payload);
    assertThat(Fingerprint.ofHash(new byte[0])).isEqualTo(Fingerprint.none());
    assertThatThrownBy(() -> Fingerprint.ofHash(new byte[31]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a fingerprint has 32 bytes or none, this one 31");
  }

  @Test
  void noPayload_differsFromAnEmptyOne() {
    assertThat(Fingerprint.none()).isNotEqualTo(Fingerprint.of(new byte[0]));
  }

  @Test
  void hash_isCopiedInAndOut() {
    byte[] hash = Fingerprint.of(new byte[] {1}).hash();
    Fingerprint copied = Fingerprint.ofHash(hash);
    hash[0]++;
    copied.hash()[0]++;

    assertThat(copied).isEqualTo(Fingerprint.of(new byte[] {1}));
  }
}
