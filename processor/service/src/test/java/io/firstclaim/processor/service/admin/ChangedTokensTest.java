package io.firstclaim.processor.service.admin;

import static io.firstclaim.processor.service.admin.Api.READER;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import io.micronaut.test.support.TestPropertyProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The file of tokens is changed while the service runs. */
@MicronautTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ChangedTokensTest implements TestPropertyProvider {
  private static final Path TOKENS = Path.of("target", "tokens", "changed");

  @Override
  public Map<String, String> getProperties() {
    return Api.tokensOfItsOwn(TOKENS);
  }

  @Test
  void token_takenOutOfTheFile_countsNoMore_andOnePutIn_does(Api api) throws Exception {
    assertThat(api.get("/api/records/x", READER).statusCode()).isEqualTo(200);

    byte[] hash = MessageDigest.getInstance("SHA-256").digest("a-new-one".getBytes(UTF_8));
    Files.writeString(TOKENS, "nina reader " + HexFormat.of().formatHex(hash));

    await()
        .atMost(Duration.ofMinutes(5))
        .untilAsserted(
            () -> assertThat(api.get("/api/records/x", READER).statusCode()).isEqualTo(401));
    assertThat(api.get("/api/records/x", "a-new-one").statusCode()).isEqualTo(200);
  }
}
