package io.firstclaim.stack;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code docker/make-tokens}, which the compose stack runs when it starts. */
class TokensTest {
  @TempDir private Path folder;

  @BeforeEach
  void firstStart() throws Exception {
    start();
  }

  private void start() throws Exception {
    Process script =
        new ProcessBuilder("../docker/make-tokens", folder.toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(script.getInputStream().readAllBytes(), UTF_8);
    assertThat(script.waitFor(10, TimeUnit.MINUTES)).isTrue();
    assertThat(output).isEmpty(); // above all, no token is in the log
    assertThat(script.exitValue()).isZero();
  }

  private String file(String name) throws Exception {
    return Files.readString(folder.resolve(name));
  }

  private String permissions(String name) throws Exception {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(name)));
  }

  private String hashOf(String name) throws Exception {
    byte[] token = file(name).strip().getBytes(UTF_8);
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(token));
  }

  @Test
  void tokenFile_hasTheHashesOfAnOperator_aReader_andTheInstances() throws Exception {
    assertThat(file("operator")).matches("[0-9a-f]{64}\n").isNotEqualTo(file("prometheus"));
    assertThat(file("token-file").lines())
        .containsExactly(
            "# name role sha256",
            "operator operator " + hashOf("operator"),
            "prometheus reader " + hashOf("prometheus"),
            "peers reader " + hashOf("peers"));
  }

  @Test
  void operatorsToken_isItsOwnersAlone() throws Exception {
    assertThat(permissions("operator")).isEqualTo("rw-------");
    assertThat(List.of(permissions("prometheus"), permissions("peers"), permissions("token-file")))
        .containsOnly("rw-r--r--");
  }

  @Test
  void nextStart_leavesTheTokens() throws Exception {
    String before = file("operator") + file("token-file");
    start();
    assertThat(file("operator") + file("token-file")).isEqualTo(before);
  }

  @Test
  void stackFromBeforeTheInstancesHadAToken_getsThat_andKeepsTheOthers() throws Exception {
    String before = file("token-file").replaceAll("(?m)^peers .*\n", "");
    Files.writeString(folder.resolve("token-file"), before);
    start();
    assertThat(file("token-file")).isEqualTo(before + "peers reader " + hashOf("peers") + "\n");
  }

  @Test
  void interruptedStart_isBegunAnew() throws Exception {
    Files.move(folder.resolve("token-file"), folder.resolve("token-file.new"));
    start();
    assertThat(file("token-file"))
        .contains(hashOf("operator"), hashOf("prometheus"), hashOf("peers"))
        .hasLineCount(4);
  }
}
