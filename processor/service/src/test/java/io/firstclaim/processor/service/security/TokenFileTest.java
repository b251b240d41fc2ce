package io.firstclaim.processor.service.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenFileTest {
  /** The hash of "secret". */
  private static final String HASH =
      "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

  @TempDir Path folder;
  private Duration passed = Duration.ZERO;
  private final TimeSource time = () -> new Moment(Instant.EPOCH.plus(passed), passed.toNanos());

  private Path file(String content) throws IOException {
    return Files.writeString(folder.resolve("tokens"), content);
  }

  @Test
  void token_isKnownByItsHash() throws IOException {
    TokenFile tokens =
        new TokenFile(file("# people\n\n  otto \t operator " + HASH + "  # till May\r\n"), time);

    assertThat(tokens.callerOf("secret")).contains(new Caller("otto", Role.OPERATOR));
    assertThat(tokens.callerOf(HASH)).isEmpty();
    assertThat(tokens.callerOf("")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "otto operator",
        "otto root " + HASH,
        "otto OPERATOR " + HASH,
        "otto operator secret",
        "otto operator " + HASH + " more",
        "otto reader " + HASH + "\notto operator " + HASH,
      })
  void wrongLine_isNamed_butNeverShown(String content) throws IOException {
    Path file = file("# tokens\n" + content);

    assertThatThrownBy(() -> new TokenFile(file, time))
        .isInstanceOf(WrongTokenFileException.class)
        .hasMessageMatching("(?s).*tokens, line [23]: .*")
        .hasMessageNotContaining("otto")
        .hasMessageNotContaining("secret")
        .hasMessageNotContaining(HASH);
  }

  @Test
  void missingFile_isNamed() {
    assertThatThrownBy(() -> new TokenFile(folder.resolve("none"), time))
        .isInstanceOf(WrongTokenFileException.class)
        .hasMessageContaining("none cannot be read");
  }

  @Test
  void changedFile_countsASecondLater_andAWrongOneNotAtAll() throws IOException {
    Path file = file("otto operator " + HASH);
    TokenFile tokens = new TokenFile(file, time);

    Files.writeString(file, "otto operator " + HASH + "\nrita");
    passed = passed.plusSeconds(1);
    assertThat(tokens.callerOf("secret")).isPresent();

    Files.writeString(file, "rita reader " + HASH);
    assertThat(tokens.callerOf("secret")).contains(new Caller("otto", Role.OPERATOR));
    passed = passed.plusSeconds(1);
    assertThat(tokens.callerOf("secret")).contains(new Caller("rita", Role.READER));

    Files.delete(file);
    passed = passed.plusSeconds(1);
    assertThat(tokens.callerOf("secret")).isPresent();
  }

  @Test
  void addedToken_counts_besideThoseBefore_andIsNotInTheFile() throws IOException {
    Path file = file("otto operator " + HASH); // without an end of its line
    TokenFile tokens = new TokenFile(file, time);

    String token = TokenFile.add(file, "rita", Role.READER);
    passed = passed.plusSeconds(1);

    assertThat(token)
        .matches("[0-9a-f]{64}")
        .isNotEqualTo(TokenFile.add(file, "rita", Role.READER));
    assertThat(tokens.callerOf(token)).contains(new Caller("rita", Role.READER));
    assertThat(tokens.callerOf("secret")).contains(new Caller("otto", Role.OPERATOR));
    assertThat(Files.readString(file)).doesNotContain(token);
  }

  @Test
  void firstToken_makesTheFile() throws IOException {
    Path file = folder.resolve("new");

    String token = TokenFile.add(file, "otto", Role.OPERATOR);

    assertThat(new TokenFile(file, time).callerOf(token))
        .contains(new Caller("otto", Role.OPERATOR));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "o tto", "#otto", "otto\n", "otto reader " + HASH + "\notto"})
  void tokenOfAWrongName_isNotAdded(String name) throws IOException {
    Path file = file("# tokens\n");

    assertThatThrownBy(() -> TokenFile.add(file, name, Role.OPERATOR))
        .isInstanceOf(WrongTokenFileException.class);
    assertThat(Files.readString(file)).isEqualTo("# tokens\n");
  }
}
