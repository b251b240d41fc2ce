package io.firstclaim.processor.service.config;

import static io.firstclaim.processor.service.config.SettingsFixture.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.service.security.Role;
import io.firstclaim.processor.service.security.TokenFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The settings of the audit. */
class AuditSettingsTest {
  @Test
  void audit_runsUnlessItIsSwitchedOff_orThereAreNoOutcomes() {
    assertThat(read("firstclaim.claim.lease", "60s").audit().off()).isEmpty();
    assertThat(read("firstclaim.audit.enabled", "false").audit().off())
        .contains("firstclaim.audit.enabled=false");
    assertThat(read("firstclaim.outcomes.topic", "none").audit().off()).isPresent();
  }

  @Test
  void audit_takesTenLeasesForStuck_andFiveMinutesAtLeast() {
    assertThat(read("firstclaim.claim.lease", "60s").audit().settings().stuckAfter())
        .isEqualTo(Duration.ofMinutes(10));
    assertThat(read("firstclaim.claim.lease", "10s").audit().settings().stuckAfter())
        .isEqualTo(Duration.ofMinutes(5));
    assertThat(read("firstclaim.audit.stuck-after", "7s").audit().settings().stuckAfter())
        .isEqualTo(Duration.ofSeconds(7));
  }

  @Test
  void audit_isAskedWhereTheServiceListens_unlessAnAddressIsGiven() {
    assertThat(read("micronaut.server.port", "8090").audit().settings().address())
        .hasToString("127.0.0.1:8090");
    assertThat(read("micronaut.server.ssl.enabled", "true").audit().settings().address())
        .as("with TLS")
        .hasToString("127.0.0.1:8443");
    assertThat(read("firstclaim.audit.address", "a-1:8081").audit().settings().address())
        .hasToString("a-1:8081");
    for (String pod : List.of("2600:1f13::a:8080", "[2600:1f13::a]:8080")) {
      assertThat(read("firstclaim.audit.address", pod).audit().settings().address())
          .isEqualTo(new Address("2600:1f13::a", 8080))
          .hasToString("[2600:1f13::a]:8080");
    }
    for (String odd : List.of("2600:1f13:8080", "[a-1]:8080", "[a-1:8080", "a-1]:8080")) {
      assertThatThrownBy(() -> read("firstclaim.audit.address", odd))
          .hasMessageContaining("give host:port");
    }
    assertThatThrownBy(() -> read("firstclaim.audit.address", "a-1"))
        .hasMessage("firstclaim.audit.address=a-1: give host:port, such as processor-1:8080");
  }

  @Test
  void folderInMemory_isRefused_whereItWasChosen() throws IOException {
    Path memory = Path.of("/dev/shm");
    assumeThat(Files.isDirectory(memory) && Files.getFileStore(memory).type().equals("tmpfs"))
        .isTrue();

    assertThatThrownBy(() -> read("firstclaim.audit.directory", "/dev/shm/made/later"))
        .hasMessageMatching(
            "firstclaim.audit.directory=/dev/shm/made/later: it is in memory \\(tmpfs of [\\d,]+ MB,"
                + " for some [\\d,]+ records within firstclaim.claim.retention\\); give a folder on a"
                + " disk");
    assertThat(
            read(Map.of(
                    "firstclaim.audit.directory",
                    "/dev/shm/made/later",
                    "firstclaim.audit.enabled",
                    "false"))
                .audit()
                .off())
        .isPresent();
  }

  @Test
  void otherInstances_areShownAReadersToken_thatTheTokenFileKnows(@TempDir Path folder)
      throws IOException {
    String all = folder.resolve("tokens").toString();
    Path own = folder.resolve("own");
    Map<String, Object> both =
        Map.of("firstclaim.admin.token-file", all, "firstclaim.audit.token-file", own.toString());
    String prefix = "firstclaim.audit.token-file=%s: ".formatted(own);
    Path _ = Files.writeString(own, TokenFile.add(Path.of(all), "otto", Role.OPERATOR));
    assertThatThrownBy(() -> read(both))
        .hasMessage(prefix + "it is an operator's; give a reader's");

    Path _ = Files.writeString(own, TokenFile.add(Path.of(all), "peers", Role.READER) + "\n");
    assertThat(read(both).audit().tokenFile()).contains(own);

    Path _ = Files.writeString(own, "somebody-else's");
    assertThatThrownBy(() -> read(both))
        .hasMessage(
            prefix
                + "its token is not in firstclaim.admin.token-file: add it with admin token NAME"
                + " --role reader --add-to FILE");
    Path _ = Files.writeString(own, " ");
    assertThatThrownBy(() -> read(both))
        .hasMessage(prefix + own + " has no token: give a file with one");
  }

  @Test
  void audit_hasAFolderWithinThatOfTemporaryFiles_whateverTheInstanceIsCalled() {
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"), "firstclaim");
    for (String instance : List.of("host-1", "../../x", "a/b", "..")) {
      assertThat(read("firstclaim.instance", instance).audit().settings().directory())
          .hasParentRaw(temporary)
          .isNormalized();
    }
    assertThat(read("firstclaim.instance", "host-1").audit().settings().keepsState()).isTrue();
    assertThat(read("firstclaim.audit.directory", "/audit").audit().settings().keepsState())
        .isTrue();
    assertThat(read("firstclaim.claim.lease", "60s").audit().settings().keepsState())
        .as("of an instance that is named at random")
        .isFalse();
  }
}
