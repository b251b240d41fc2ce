package io.firstclaim.processor.service.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.service.config.ArgumentSettings;
import io.firstclaim.processor.service.config.ServiceCatalog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ParseResult;

class FirstclaimTest {
  private static final String S3 = "-firstclaim.claim.backend=s3";

  private final List<ArgumentSettings> served = new ArrayList<>();

  private int run(String... args) {
    return Firstclaim.run(
        given -> {
          served.add(given);
          return 7;
        },
        Map.of(),
        args);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "order-1",
        "-firstclaim.zone=a",
        "--help",
        "-V",
        "claim",
        "probe",
        "dataset",
        "",
        "a b",
        "--",
        "@file",
        "'quoted'"
      })
  void whatFollowsClaim_isTheId_whateverItLooksLike(String id) {
    ParseResult parsed = Firstclaim.line(_ -> 0, Map.of()).parseArgs("claim", id, S3);

    ParseResult claim = parsed.subcommand();
    assertThat(claim.commandSpec().name()).isEqualTo("claim");
    String read = claim.matchedPositionalValue(0, "none");
    assertThat(read).isEqualTo(id);
    assertThat(claim.unmatched()).containsExactly(S3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"claim --mutex", "release --reason r --resource", "redrive --board b"})
  void whatFollowsItsOptions_isTheId_whateverItLooksLike(String call) {
    List<String> args = new ArrayList<>(List.of(call.split(" ")));
    if (!args.contains("--reason") && !args.contains("claim")) {
      args.addAll(List.of("--reason", "a b"));
    }
    args.addAll(List.of("-V", S3));

    ParseResult command =
        Firstclaim.line(_ -> 0, Map.of()).parseArgs(args.toArray(String[]::new)).subcommand();

    String read = command.matchedPositionalValue(0, "none");
    assertThat(read).isEqualTo("-V");
    assertThat(command.unmatched()).containsExactly(S3);
  }

  @Test
  void argumentThatTheLocaleCannotRead_isRefused_asItLooksLikeAnother() {
    List<String> once = List.of("once", "caf\ufffd\ufffd", "--", "true");

    assertThat(Firstclaim.garbled(once, "ANSI_X3.4-1968").orElseThrow())
        .hasMessageStartingWith("argument=caf")
        .hasMessageEndingWith(
            "it has bytes that are no text in ANSI_X3.4-1968; give UTF-8, and set LC_ALL=C.UTF-8");
    assertThat(run("once", "caf\ufffd\ufffd", "--", "true")).isEqualTo(2);
    assertThat(Firstclaim.garbled(List.of("claim", "\ufffd"), "ANSI_X3.4-1968")).isPresent();
    assertThat(Firstclaim.garbled(List.of("claim", "\ufffd"), "UTF-8"))
        .as("an ID that has this very character")
        .isEmpty();
    assertThat(Firstclaim.garbled(List.of("once", "plain"), "ANSI_X3.4-1968")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "dataset list,true",
    "-firstclaim.handler.dataset.bucket=b dataset list,true",
    "lock a -- true,true",
    "once a -- true,true",
    "claim dataset,false",
    "serve,false"
  })
  void logs_areNotAmongWhatACommandPrints(String call, boolean keptOut) {
    assertThat(Firstclaim.keepsLogsOutOfTheOutput(call.split(" "))).isEqualTo(keptOut);
  }

  @Test
  void withoutACommand_orWithServe_itServes_withTheSettingsAmongTheArguments() {
    assertThat(run()).isEqualTo(7);
    assertThat(run("serve", "--firstclaim.zone=a")).isEqualTo(7);
    assertThat(run("-firstclaim.zone=b", "-http.x=1")).isEqualTo(7);
    assertThat(served)
        .extracting(ArgumentSettings::byName)
        .containsExactly(
            Map.of(),
            Map.of("firstclaim.zone", "a"),
            Map.of("firstclaim.zone", "b", "http.x", "1"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "claim",
        "claim a b",
        "claim --mutex",
        "claim --mutex --resource a",
        "claim --board b",
        "release a",
        "release --reason r",
        "redrive a",
        "redrive a b --reason r",
        "prove",
        "-firstclaim.zone",
        "probe now",
        "policy now",
        "-x",
        "dataset",
        "dataset mend",
        "dataset list -x",
        "lock",
        "lock a",
        "lock a --wait soon -- true",
        "lock a -firstclaim.claim.backend=memory -- true",
        "once",
        "once a",
        "admin",
        "admin nothing",
        "admin summary -firstclaim.zone=a",
        "-firstclaim.zone=a admin summary"
      })
  void wrongCall_isTwo_andServesNobody(String call) {
    assertThat(run(call.split(" "))).isEqualTo(2);
    assertThat(served).isEmpty();
  }

  @Test
  void policyOfNoBucket_isNothingFound() {
    assertThat(run("policy", "-firstclaim.claim.backend=memory")).isEqualTo(1);
  }

  @Test
  void help_hasALineForEachSetting() {
    List<String> lines =
        Firstclaim.line(_ -> 0, Map.of()).getUsageMessage(Ansi.OFF).lines().toList();
    assertThat(Stream.concat(ServiceCatalog.all().stream(), ServiceCatalog.ofOthers().stream()))
        .allSatisfy(
            setting ->
                assertThat(lines)
                    .filteredOn(line -> line.startsWith(setting.name() + " "))
                    .hasSize(1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-h",
        "-help",
        "--help",
        "help",
        "-V",
        "-version",
        "--version",
        "version",
        "probe --help",
        "policy --help",
        "-firstclaim.zone=a --help",
        "dataset --help",
        "admin --help"
      })
  void helpAndVersion_areToldWithoutASetting(String call) {
    assertThat(run(call.split(" "))).isZero();
    assertThat(served).isEmpty();
  }
}
