package io.firstclaim.simulation.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table in docs/proof.md says of each invariant what holds it, and no more than is true. */
class ProofTableTest {
  private static final Path PROJECT = Path.of("..", "..");
  private static final Pattern ROW =
      Pattern.compile("^\\| (\\d+) \\| [^|]+ \\| ([^|]+) \\|([^|]*)\\|$", Pattern.MULTILINE);
  private static final Pattern INVARIANT = Pattern.compile("^\\| (\\d+) \\|", Pattern.MULTILINE);
  private static final Pattern NAME = Pattern.compile("`([A-Za-z]+)`");

  /** These say of a row that no check of the simulation holds it. */
  private static final Set<String> NO_CHECK = Set.of("not yet", "by tests alone, by its nature");

  private static Map<Integer, MatchResult> rows() throws IOException {
    Map<Integer, MatchResult> rows = new TreeMap<>();
    ROW.matcher(text("docs/proof.md"))
        .results()
        .forEach(row -> rows.put(Integer.parseInt(row.group(1)), row));
    return rows;
  }

  private static String text(String file) throws IOException {
    return Files.readString(PROJECT.resolve(file), UTF_8);
  }

  private static Set<String> names(String cell) {
    return NAME.matcher(cell)
        .results()
        .map(name -> name.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Map<String, Integer> checks() {
    Map<String, Integer> checks = new HashMap<>();
    List<Check> all = new ArrayList<>(Actors.all(_ -> Duration.ZERO, Duration.ZERO));
    all.addAll(
        History.checks(
            (_, _) -> List.of(),
            new History.Bounds(
                Duration.ofSeconds(1),
                Duration.ZERO,
                Duration.ZERO,
                Duration.ofSeconds(1),
                1,
                1,
                Duration.ZERO,
                1)));
    all.forEach(check -> checks.put(check.getClass().getSimpleName(), check.invariant()));
    return checks;
  }

  @Test
  void everyInvariant_hasItsRow() throws IOException {
    Set<Integer> invariants =
        INVARIANT
            .matcher(text("docs/protocol.md"))
            .results()
            .map(row -> Integer.valueOf(row.group(1)))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(rows().keySet()).hasSize(43).isEqualTo(invariants);
  }

  @Test
  void aRowThatNamesChecks_namesThoseOfItsInvariant_andAllAreNamed() throws IOException {
    Map<String, Integer> checks = checks();
    Set<String> named = new TreeSet<>();
    for (Map.Entry<Integer, MatchResult> row : rows().entrySet()) {
      String cell = row.getValue().group(2).strip();
      Set<String> names = names(cell);
      named.addAll(names);
      assertThat(checks.keySet()).as("row %d", row.getKey()).containsAll(names);
      assertThat(names.isEmpty()).as("row %d", row.getKey()).isEqualTo(NO_CHECK.contains(cell));
    }
    assertThat(named).isEqualTo(new TreeSet<>(checks.keySet()));
    Map<Integer, MatchResult> rows = rows();
    for (Map.Entry<String, Integer> check : checks.entrySet()) {
      MatchResult row = Objects.requireNonNull(rows.get(check.getValue()), check.getKey());
      assertThat(names(row.group(2))).contains(check.getKey());
    }
  }

  @Test
  void everyTestThatIsNamed_isThere() throws IOException {
    Set<String> sources;
    try (Stream<Path> files = Files.walk(PROJECT.resolve(".").toRealPath())) {
      sources =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".java"))
              .map(name -> name.substring(0, name.length() - ".java".length()))
              .collect(Collectors.toSet());
    }
    for (MatchResult row : rows().values()) {
      assertThat(sources).as(row.group()).containsAll(names(row.group(3)));
    }
  }
}
