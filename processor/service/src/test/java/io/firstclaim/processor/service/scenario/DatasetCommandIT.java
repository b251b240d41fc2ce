package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.dataset.DatasetFile;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.dataset.StoreResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.sync.RequestBody;

/** {@code java -jar firstclaim.jar dataset …}. */
@Order(3)
class DatasetCommandIT {
  private final Lake lake = new Lake();

  @TempDir Path directory;

  @AfterEach
  void close() {
    lake.close();
  }

  private Run run(String... args) throws IOException {
    List<String> all = new ArrayList<>(List.of("dataset"));
    all.addAll(List.of(args));
    return Run.of(
        Files.createTempDirectory(directory, "run"),
        Map.of(
            "AWS_REGION", "eu-central-1",
            "AWS_ACCESS_KEY_ID", "test",
            "AWS_SECRET_ACCESS_KEY", "test",
            "AWS_ENDPOINT_URL_S3", lake.endpoint().toString(),
            "FIRSTCLAIM_HANDLER_DATASET_BUCKET", lake.bucket()),
        all.toArray(String[]::new));
  }

  private DatasetFile store(String id) throws InterruptedException {
    Dataset dataset =
        new Dataset(
            lake.client(),
            new DatasetSettings(lake.bucket(), "", 8 << 20, Duration.ofMillis(10)),
            "test",
            TimeSource.system());
    return switch (dataset.store("orders", 0, RecordId.of(id), new byte[1], () -> {})) {
      case StoreResult.Listed(DatasetFile file) -> file;
      case StoreResult.Rejected(String cause) -> throw new AssertionError(cause);
    };
  }

  @Test
  void list_printsOnePathALine() throws Exception {
    DatasetFile a = store("a");
    DatasetFile b = store("b");

    Run listed = run("list");

    assertThat(listed.exitCode()).as(listed.output()).isZero();
    assertThat(listed.output().lines()).containsExactlyInAnyOrder(a.path(), b.path());
    assertThat(run("list", "--from", "datasets/p").output()).isEmpty();
    assertThat(run("list", "--to", "datasets/orders/").output().lines()).hasSize(2);
  }

  @Test
  void prefixWithoutADataset_isTold() throws Exception {
    var _ = store("a");
    String wrong = "-firstclaim.handler.dataset.prefix=wrong/";
    String noRoot =
        "firstclaim: S3 bucket %s has no dataset under the prefix \"wrong/\", as it has no root:"
            .formatted(lake.bucket());

    Run listed = run("list", wrong);
    Run verified = run("verify", wrong);

    assertThat(listed.exitCode()).isEqualTo(2);
    assertThat(listed.output().lines()).singleElement().asString().startsWith(noRoot);
    assertThat(verified.exitCode()).isEqualTo(2);
    assertThat(verified.output())
        .startsWith(noRoot)
        .endsWith("firstclaim: 0 files in 0 partitions compared\n");
  }

  @Test
  void verify_exitsWithOneIfAnythingIsWrong_andRepairMendsIt() throws Exception {
    DatasetFile gone = store("a");
    assertThat(run("verify").exitCode()).isZero();
    String stray = gone.path().replaceAll("[0-9a-f]{64}$", "%064x".formatted(1));
    lake.client()
        .putObject(put -> put.bucket(lake.bucket()).key(stray), RequestBody.fromString("x"));
    lake.client().deleteObject(delete -> delete.bucket(lake.bucket()).key(gone.path()));

    Run wrong = run("verify", "--in-flight", "0");

    assertThat(wrong.exitCode()).isEqualTo(1);
    assertThat(wrong.output().lines())
        .containsExactlyInAnyOrder(
            "file without entry: " + stray,
            "entry without file: " + gone.path(),
            "firstclaim: 1 files in 1 partitions compared");
    Run repaired = run("repair");
    assertThat(repaired.exitCode()).as(repaired.output()).isZero();
    assertThat(repaired.output()).contains("1 files added to the list, 1 taken off");
    assertThat(run("verify").exitCode()).isZero();
  }

  @Test
  void damagedRoot_isToldInOneLine_andMadeAnewByRepair() throws Exception {
    DatasetFile file = store("a");
    lake.writeRoot("oops".getBytes(UTF_8));

    Run verified = run("verify");

    assertThat(verified.exitCode()).isEqualTo(2);
    assertThat(verified.output().lines())
        .singleElement()
        .asString()
        .startsWith("firstclaim: S3 bucket %s: object %s".formatted(lake.bucket(), Lake.ROOT));
    assertThat(run("repair").exitCode()).isZero();
    assertThat(run("list").output().lines()).containsExactly(file.path());
  }

  @Test
  void bucketThatIsNotNamed_isToldInOneLine() throws IOException {
    Run ended = run("list", "-firstclaim.handler.dataset.bucket=");

    assertThat(ended.exitCode()).as(ended.output()).isEqualTo(2);
    assertThat(ended.output()).contains("firstclaim.handler.dataset.bucket");
  }
}
