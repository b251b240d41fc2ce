package io.firstclaim.processor.service.security;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.OneLine;

/** Whatever is in a token file, and whatever is shown for a token. */
class TokensFuzzTest {
  /** The hash of "secret". */
  private static final String HASH =
      "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

  @FuzzTest(maxDuration = "10m")
  void anyFile_isOneOfTokens_orItsWrongLineIsNamed(byte[] bytes) {
    String content = new String(bytes, ISO_8859_1);
    try {
      Tokens tokens = Tokens.parse("tokens", content);

      assertThat(tokens.callerOf(content)).isEmpty();
      tokens
          .callerOf("secret")
          .ifPresent(caller -> assertThat(caller.name()).matches("[!-~&&[^#]]{1,64}"));
    } catch (WrongTokenFileException e) {
      String message = String.valueOf(e.getMessage());
      assertThat(message).startsWith("tokens, line ").isEqualTo(OneLine.of(message));
    }
  }

  @FuzzTest(maxDuration = "10m")
  void anyComment_saysNothing(byte[] bytes) {
    String comment = "#" + new String(bytes, ISO_8859_1).replaceAll("[\r\n]", " ");

    Tokens tokens =
        Tokens.parse("tokens", "otto reader " + HASH + " " + comment + "\n" + comment + "\n");

    assertThat(tokens.callerOf("secret")).contains(new Caller("otto", Role.READER));
  }
}
