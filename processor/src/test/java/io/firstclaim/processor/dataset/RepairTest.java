package io.firstclaim.processor.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.s3.S3DocumentStore;
import io.firstclaim.stack.fault.Fault;
import io.firstclaim.stack.fault.Match;
import io.firstclaim.stack.fault.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RepairTest {
  private final LocalLake lake = new LocalLake();
  private final Dataset dataset = lake.dataset();

  @AfterEach
  void close() {
    lake.close();
  }

  private DatasetFile store(String id) throws InterruptedException {
    return store(dataset, id);
  }

  private static DatasetFile store(Dataset dataset, String id) throws InterruptedException {
    return switch (dataset.store("orders", 0, RecordId.of(id), new byte[3], () -> {})) {
      case StoreResult.Stored(DatasetFile file) -> file;
      case StoreResult.Refused(String cause) -> throw new AssertionError(cause);
    };
  }

  /** What a crash between object and registry leaves. */
  private DatasetFile unlisted(String id) {
    DatasetFile file = DatasetFile.of("orders", 0, RecordId.of(id), 3);
    lake.put(file.path(), new byte[3]);
    return file;
  }

  @Test
  void registryThatIsRight_isNotWritten() throws InterruptedException {
    store("a");
    lake.proxy().reset();

    assertThat(dataset.repair()).isEqualTo(new Repair(0, 0));

    assertThat(lake.proxy().requests("PUT")).isZero();
  }

  @Test
  void fileOfACrashBeforeTheRegistry_isAdded() throws InterruptedException {
    DatasetFile listed = store("a");
    DatasetFile unlisted = unlisted("b");

    assertThat(dataset.repair()).isEqualTo(new Repair(1, 0));

    assertThat(lake.listed()).containsExactlyInAnyOrder(listed, unlisted);
  }

  @Test
  void fileThatIsMissing_isRemoved() throws InterruptedException {
    DatasetFile kept = store("a");
    lake.delete(store("b").path());

    assertThat(dataset.repair()).isEqualTo(new Repair(0, 1));

    assertThat(lake.listed()).containsExactly(kept);
  }

  @Test
  void lostRegistry_isMadeAnew() throws InterruptedException {
    DatasetFile a = store("a");
    DatasetFile b = store("b");
    lake.delete(SharedRegistry.PATH);

    assertThat(dataset.repair()).isEqualTo(new Repair(2, 0));

    assertThat(lake.listed()).containsExactlyInAnyOrder(a, b);
  }

  @Test
  void registryOfABucketThatIsEmpty_listsNothing() throws InterruptedException {
    assertThat(dataset.repair()).isEqualTo(new Repair(0, 0));

    assertThat(lake.listed()).isEmpty();
  }

  @Test
  void documentThatIsNoRegistry_isNotUpdated_butMadeAnew() throws InterruptedException {
    DatasetFile file = unlisted("a");
    new SharedDocuments(new S3DocumentStore(lake.client(), lake.bucket()), TimeSource.system())
        .update(DocumentKey.of(SharedRegistry.PATH), Duration.ZERO, _ -> "[]");

    assertThatThrownBy(() -> store("b"))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("is no registry of a dataset");
    dataset.repair();

    assertThat(lake.listed())
        .containsExactlyInAnyOrder(file, DatasetFile.of("orders", 0, RecordId.of("b"), 3));
  }

  @Test
  void objectOfSomethingElse_isPassedOver() throws InterruptedException {
    lake.put("datasets/README.md", new byte[1]);
    lake.put("datasets/orders/_SUCCESS", new byte[0]);

    assertThat(dataset.repair()).isEqualTo(new Repair(0, 0));
  }

  @Test
  void moreFilesThanOneAnswerOfS3Has_areAllSeen() throws InterruptedException {
    List<DatasetFile> files = new ArrayList<>();
    for (int i = 0; i < 1001; i++) {
      files.add(unlisted("id-" + i));
    }

    assertThat(dataset.repair()).isEqualTo(new Repair(1001, 0));

    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(files);
  }

  @Test
  void open_repairs_andLeavesNothingOfItsTest() throws InterruptedException {
    DatasetFile file = unlisted("a");

    dataset.open();

    assertThat(lake.listed()).containsExactly(file);
    assertThat(lake.keys()).containsExactly(file.path());
  }

  @Test
  void open_waitsForAStoreThatDoesNotAnswer_andRefusesABucketThatIsMissing() {
    Rule down =
        lake.proxy()
            .add(Rule.always(Match.pathContains("list-type"), Fault.Answer.s3(503, "SlowDown")));
    assertThatThrownBy(dataset::open).isInstanceOf(StoreUnavailableException.class);
    lake.proxy().remove(down);

    lake.proxy().add(Rule.always(Match.any(), Fault.Answer.s3(404, "NoSuchBucket")));
    assertThatThrownBy(dataset::open)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("The bucket must be there");
  }
}
