package io.firstclaim.lock.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.Soak;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The model of the protocol holds in every state that its configurations reach, and each fault that
 * is put into it breaks the invariant that is there to catch it. A build checks the smallest ones,
 * a soak all.
 */
class ClaimsModelTest {
  private static final Path DIRECTORY = Path.of("../../docs/tla");
  private static final Tlc TLC = new Tlc(DIRECTORY);
  private static final String README = text(DIRECTORY.resolve("README.md"));

  @TempDir Path scratch;

  static Stream<Arguments> configurations() {
    Stream<String> names =
        Soak.isOn()
            ? Stream.of("small", "late", "watch", "operators", "sweep")
            : Stream.of("small");
    return names.flatMap(
        name -> Stream.of("DynamoDB", "S3").map(store -> Arguments.of(name, store)));
  }

  @ParameterizedTest
  @MethodSource("configurations")
  void everyStateOfTheModel_keepsTheInvariants_andIsCountedInTheReadme(String name, String store) {
    TlcResult result =
        TLC.check("Claims", with(text(DIRECTORY.resolve(name + ".cfg")), store), Map.of(), scratch);

    assertThat(result.violated()).as(result.output()).isNull();
    assertThat(result.isComplete()).isTrue();
    assertThat(README)
        .as("the figures of docs/tla/README.md")
        .contains(
            String.format(
                Locale.ROOT,
                "| `%s` | %s | %,d | %d |",
                name,
                store,
                result.states(),
                result.depth()));
  }

  /** The least that shows each fault; the numbers are those of {@code docs/protocol.md}. */
  static Stream<Arguments> faults() {
    Stream<Arguments> quick =
        Stream.of(
            broken("no margin", "DynamoDB", "PROPERTY TakenOverWhenOver"),
            broken("a lost answer is a win", "S3", "INVARIANT OneGrant", "MaxLost = 1"));
    Stream<Arguments> others =
        Stream.of(
            broken("no margin", "S3", "PROPERTY TakenOverWhenOver"),
            broken("no fence", "DynamoDB", "PROPERTY OnlyTheHolder", "MaxLost = 1"),
            broken("no fence", "S3", "PROPERTY OnlyTheHolder", "MaxLost = 1"),
            broken(
                "token only", "DynamoDB", "PROPERTY FreshNonce", "MaxLost = 1", "MaxRenewals = 1"),
            broken(
                "blind delete",
                "S3",
                "PROPERTY OnlyTheOldIsDeleted",
                "MaxSweeps = 2",
                "Retention = 0"),
            broken("a lost answer is a loss", "DynamoDB", "INVARIANT LostIsLost", "MaxLost = 1"),
            broken("a lost answer is a loss", "S3", "INVARIANT LostIsLost", "MaxLost = 1"),
            broken(
                "a lost answer is a win", "DynamoDB", "INVARIANT SettledIsStored", "MaxLost = 1"),
            broken("counted from the answer", "DynamoDB", "INVARIANT OneAtATime"),
            broken("counted from the answer", "S3", "INVARIANT OneAtATime"),
            broken(
                "due is not strict",
                "DynamoDB",
                "PROPERTY NotOnceMore",
                "Steps = {\"LATER\"}",
                "MaxDoubled = 1"),
            broken("tokens restart", "DynamoDB", "PROPERTY TokensRise", "Steps = {\"LATER\"}"),
            broken("ends are claimed", "DynamoDB", "PROPERTY EndsStay"),
            broken("no fresh nonce", "S3", "PROPERTY FreshNonce", "MaxRenewals = 1"),
            broken(
                "watched from the question",
                "S3",
                "PROPERTY TakenOverWhenOver",
                "MaxClaims = 3",
                "MaxRenewals = 1"));
    return Soak.isOn() ? Stream.concat(quick, others) : quick;
  }

  private static Arguments broken(String what, String store, String invariant, String... more) {
    return Arguments.of(what, store, invariant, String.join("\n", more));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void everyFaultInTheModel_breaksItsInvariant(
      String what, String store, String invariant, String more) {
    String configuration =
        with(
            """
            SPECIFICATION Spec
            CONSTANTS
              Instances = {a, b}
              Store = "DynamoDB"
              Lease = 1
              Skew = 1
              Retention = 1
              Horizon = 3
              Steps = {"DONE"}
              MaxClaims = 2
              MaxRenewals = 0
              MaxLost = 0
              MaxDoubled = 0
              MaxCrashes = 0
              MaxOperators = 0
              MaxSweeps = 0
              Broken = "%s"
            SYMMETRY Alike
            CHECK_DEADLOCK FALSE
            %s
            """
                .formatted(what, invariant),
            store);
    for (String constant : more.lines().toList()) {
      String name = constant.substring(0, constant.indexOf(" = "));
      configuration = configuration.replaceFirst("(?m)^  " + name + " = .*$", "  " + constant);
    }

    TlcResult result = TLC.check("Claims", configuration, Map.of(), scratch);

    assertThat(result.violated()).as(what).isEqualTo(invariant.split(" ", 2)[1]);
  }

  private static String with(String configuration, String store) {
    return configuration.replaceFirst("Store = \"\\w+\"", "Store = \"" + store + "\"");
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
