package io.firstclaim.processor.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.s3.S3DocumentStore;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Registries of schema version 1, as 0.1.0 wrote them. */
class MovingOnTest {
  private static final long DAY = Duration.ofDays(1).toMillis();

  private final LocalLake lake = new LocalLake();

  @AfterEach
  void close() {
    lake.close();
  }

  private static DatasetFile file(int number, int days) {
    return DatasetFile.of("orders", number % days * DAY, RecordId.of("id-" + number), 3);
  }

  /** The text that 0.1.0 would have for these files. */
  private static String versionOne(List<DatasetFile> files) {
    Map<String, List<DatasetFile>> partitions =
        files.stream().collect(Collectors.groupingBy(DatasetFile::partition));
    return partitions.entrySet().stream()
        .map(
            partition ->
                "\"%s\":{\"files\":%d,\"bytes\":%d,\"sizes\":{%s}}"
                    .formatted(
                        partition.getKey(),
                        partition.getValue().size(),
                        3 * partition.getValue().size(),
                        partition.getValue().stream()
                            .map(one -> "\"%s\":3".formatted(one.name()))
                            .collect(Collectors.joining(","))))
        .collect(
            Collectors.joining(
                ",",
                "{\"updatedAt\":\"2026-07-04T12:00:00Z\",\"files\":%d,\"bytes\":%d,\"partitions\":{"
                    .formatted(files.size(), 3 * files.size()),
                "}}"));
  }

  private List<DatasetFile> before(int files, int days) throws InterruptedException {
    List<DatasetFile> before = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      before.add(file(i, days));
    }
    write(versionOne(before));
    return before;
  }

  private void write(String root) throws InterruptedException {
    new SharedDocuments(new S3DocumentStore(lake.client(), lake.bucket()), TimeSource.system())
        .update(DocumentKey.of(RootObject.PATH), Duration.ZERO, _ -> root);
  }

  private static DatasetFile store(Dataset dataset, String id) throws InterruptedException {
    return switch (dataset.store("orders", 0, RecordId.of(id), new byte[3], () -> {})) {
      case StoreResult.Listed(DatasetFile file) -> file;
      case StoreResult.Rejected(String cause) -> throw new AssertionError(cause);
    };
  }

  @Test
  void registryOfVersionOne_isMovedOnByTheFirstUpdate() throws InterruptedException {
    List<DatasetFile> expected = before(200, 5);

    expected.add(store(lake.dataset(), "new"));

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void fileThatIsListedInARegistryOfVersionOneSoonAfterItWasWritten_isNotTold()
      throws InterruptedException {
    List<DatasetFile> files = before(1, 1);
    files.add(file(1, 1));
    files.forEach(one -> lake.put(one.path(), new byte[3]));
    TimeSource time =
        new HastyTime(
            sleep -> {
              if (sleep == 3) {
                write(versionOne(files));
              }
            });

    List<Verification.Discrepancy> findings = new ArrayList<>();
    new Verification(lake.client(), lake.bucket(), "", Verification.IN_FLIGHT, time)
        .run(findings::add);

    assertThat(findings).isEmpty();
  }

  @Test
  void registryOfManyFiles_becomesASmallRoot() throws InterruptedException {
    List<DatasetFile> expected = before(20_000, 30);

    expected.add(store(lake.dataset(), "new"));

    assertThat(lake.body(RootObject.PATH)).hasSizeLessThan(64 << 10);
    List<DatasetFile> listed = lake.listed();
    assertThat(listed).hasSameSizeAs(expected);
    assertThat(new HashSet<>(listed)).as("by hash: there are many").isEqualTo(Set.copyOf(expected));
  }

  @Test
  void registryThatSeveralMoveOnAtOnce_losesNothing() throws Exception {
    List<DatasetFile> expected = before(1_000, 20);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<DatasetFile>> stored = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Dataset instance = lake.dataset();
        for (int n = 0; n < 10; n++) {
          String id = "%d-%d".formatted(i, n);
          stored.add(threads.submit(() -> store(instance, id)));
        }
      }
      for (Future<DatasetFile> one : stored) {
        expected.add(one.get());
      }
    }

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void registryWhoseMoverDies_isMovedOnByTheNext() throws InterruptedException {
    List<DatasetFile> expected = before(100, 5);
    Rule dies =
        lake.proxy()
            .add(
                Rule.always(
                    Match.operation("PUT").and(Match.pathContains(RootObject.PATH)),
                    Fault.Answer.s3(503, "SlowDown")));
    Dataset dying = lake.dataset();
    Thread mover = Thread.ofVirtual().start(() -> assertThatThrownBy(() -> store(dying, "lost")));
    assertThat(dies.awaitHits(1, Duration.ofMinutes(5))).isTrue();
    mover.interrupt();
    lake.proxy().remove(dies);

    expected.add(store(lake.dataset(), "new"));

    assertThat(lake.listed()).containsAll(expected);
  }

  @Test
  void fileThatVersionOneLists_isNotListedAgain() throws InterruptedException {
    List<DatasetFile> expected = before(10, 1);
    lake.put(expected.getFirst().path(), new byte[3]);

    assertThat(store(lake.dataset(), "id-0")).isEqualTo(expected.getFirst());

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void rootThatAPersonHasWritten_isTakenForWhatItIs() throws InterruptedException {
    Dataset dataset = lake.dataset();
    DatasetFile before = store(dataset, "a");
    byte[] right = lake.body(RootObject.PATH);
    lake.put(RootObject.PATH, "oops".getBytes(UTF_8));
    assertThatThrownBy(() -> store(dataset, "b"))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining(lake.bucket())
        .hasMessageContaining(RootObject.PATH)
        .hasMessageContaining("dataset repair");

    lake.put(RootObject.PATH, right);

    assertThat(lake.listed()).containsExactly(before);
    assertThat(lake.listed()).doesNotContain(store(dataset, "b"));
    assertThat(lake.listed()).hasSize(2);
  }

  @Test
  void rootOfALaterVersion_isLeftAlone_byTheRepairToo() throws InterruptedException {
    byte[] later = "{\"schemaVersion\": 3}".getBytes(UTF_8);
    lake.put(RootObject.PATH, later);

    assertThatThrownBy(() -> store(lake.dataset(), "a")).isInstanceOf(UnreadableException.class);
    assertThatThrownBy(() -> lake.dataset().repair()).isInstanceOf(UnreadableException.class);

    assertThat(lake.body(RootObject.PATH)).isEqualTo(later);
  }

  @Test
  void rootThatIsDamaged_isMadeAnewByARepair_withAllThatManifestsKnow()
      throws InterruptedException {
    DatasetFile file = store(lake.dataset(), "a");
    String manifest = lake.manifests().getFirst();
    lake.put(RootObject.PATH, "oops".getBytes(UTF_8));

    assertThat(lake.dataset().repair()).contains(new Repair(1, 0, 0));

    assertThat(lake.listed()).containsExactly(file);
    assertThat(lake.manifests()).hasSize(2).contains(manifest);
    assertThat(lake.manifests())
        .allSatisfy(path -> assertThat(lake.body(path)).asString(UTF_8).contains("\"id\":\"a\""));
  }

  @Test
  void storeThatDoesNotAnswer_forAManifest_isUnavailable() {
    lake.proxy()
        .add(Rule.always(Match.pathContains(Manifests.FOLDER), Fault.Answer.s3(503, "SlowDown")));

    assertThatThrownBy(() -> store(lake.dataset(), "a"))
        .isInstanceOf(StoreUnavailableException.class);
  }
}
