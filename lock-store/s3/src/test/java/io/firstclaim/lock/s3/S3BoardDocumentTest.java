package io.firstclaim.lock.s3;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.SharedDocuments;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A board on S3: one shared document, several of whose items move at once or none. */
class S3BoardDocumentTest {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final DocumentKey board = DocumentKey.of(LocalS3.PREFIX + "boards/" + Nonce.random());

  private final SharedDocuments documents =
      new SharedDocuments(
          new S3DocumentStore(LocalS3.client(), LocalS3.BUCKET), TimeSource.system());

  /** Who holds which table. */
  private static Map<String, String> parse(Optional<String> document) {
    return document.stream()
        .flatMap(String::lines)
        .map(line -> line.split("=", 2))
        .collect(toMap(pair -> pair[0], pair -> pair[1], (one, _) -> one, TreeMap::new));
  }

  private static String print(Map<String, String> holders) {
    return holders.entrySet().stream()
        .map(entry -> entry.getKey() + "=" + entry.getValue())
        .collect(joining("\n"));
  }

  /** Takes all of the tables or none; what was in the way. */
  private Map<String, String> edit(String editor, String... tables) throws InterruptedException {
    Map<String, String> inTheWay = new TreeMap<>();
    documents.update(
        board,
        PATIENCE,
        old -> {
          Map<String, String> holders = parse(old);
          inTheWay.clear();
          inTheWay.putAll(holders);
          inTheWay.keySet().retainAll(List.of(tables));
          if (inTheWay.isEmpty()) {
            Stream.of(tables).forEach(table -> holders.put(table, editor));
          }
          return print(holders);
        });
    return inTheWay;
  }

  @Test
  void severalItems_moveAtOnce_orNoneDoes_andWhatIsInTheWayIsNamed() throws Exception {
    assertThat(edit("ada", "a", "b", "c")).isEmpty();

    assertThat(edit("bob", "c", "d")).isEqualTo(Map.of("c", "ada"));

    assertThat(edit("bob", "d", "e")).isEmpty();
  }

  @Test
  void manyEditorsAtOnce_oneGetsTheItems() throws Exception {
    List<Callable<Map<String, String>>> all =
        IntStream.range(0, 8)
            .mapToObj(
                i -> (Callable<Map<String, String>>) () -> edit("editor-" + i, "a", "b" + i % 2))
            .toList();
    List<Map<String, String>> inTheWay = new ArrayList<>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<Map<String, String>> one : threads.invokeAll(all)) {
        inTheWay.add(one.get());
      }
    }

    assertThat(inTheWay).containsOnlyOnce(Map.of());
    assertThat(inTheWay.stream().filter(way -> !way.isEmpty()))
        .hasSize(7)
        .allMatch(way -> way.containsKey("a"));
  }
}
