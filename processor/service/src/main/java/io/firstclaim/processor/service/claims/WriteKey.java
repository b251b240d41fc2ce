package io.firstclaim.processor.service.claims;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Nonce;
import io.firstclaim.processor.service.admin.Problem;
import io.firstclaim.processor.service.security.AccessPolicy;
import io.micronaut.http.HttpRequest;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The {@code Idempotency-Key} of a write. The write's nonce is made of it and of the caller's
 * token, so the store itself knows a repetition, whichever instance it comes to and whatever was
 * restarted; and nobody who guesses the key can make the nonce, by which claims are gone on with. A
 * write without a key has a random nonce, and its repetition is another write.
 *
 * @param given the key; empty if there is none
 */
record WriteKey(Optional<String> given, String secret) {
  private static final String HEADER = "Idempotency-Key";
  private static final Pattern LEGAL = Pattern.compile("[!-~]([ -~]{0,253}[!-~])?");

  /**
   * The key of a request.
   *
   * @throws Problem if it is not 1 to 255 printable ASCII characters
   */
  static WriteKey of(HttpRequest<?> request) {
    Optional<String> given = Optional.ofNullable(request.getHeaders().get(HEADER));
    if (given.isPresent() && !LEGAL.matcher(given.get()).matches()) {
      throw Problem.wrong(
          HEADER,
          given.get(),
          "give 1 to 255 printable ASCII characters, such as a random UUID for each new write");
    }
    return new WriteKey(given, AccessPolicy.bearer(request).orElse("none"));
  }

  /** Whether a repetition of this write can be known. */
  boolean isGiven() {
    return given.isPresent();
  }

  /** The nonce of this write, of which these are what it is about. */
  Nonce nonce(String... parts) {
    return given.map(key -> derived(key, parts)).orElseGet(Nonce::random);
  }

  private Nonce derived(String key, String... parts) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
      update(mac, key);
      for (String part : parts) {
        update(mac, part);
      }
      ByteBuffer bytes = ByteBuffer.wrap(mac.doFinal());
      // Room above for the writes that follow, each by one more.
      return new Nonce(bytes.getLong(), bytes.getLong() & Long.MAX_VALUE);
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e); // cannot happen: every Java platform has this algorithm
    }
  }

  /** Each part is preceded by its length, so that no two lists of parts are one text. */
  private static void update(Mac mac, String part) {
    byte[] bytes = part.getBytes(UTF_8);
    mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
    mac.update(bytes);
  }

  /** Leaves out the caller's token. */
  @Override
  public String toString() {
    return "WriteKey[" + given.orElse("none") + "]";
  }
}
