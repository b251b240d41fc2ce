package io.firstclaim.processor.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A dataset in a bucket with the policy that it should have. No server here keeps to a policy: the
 * proxy denies what S3 would.
 */
class ProtectedDatasetTest {
  private final LocalLake lake = new LocalLake();
  private final AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);
  private final Dataset dataset =
      lake.dataset(
          () ->
              new Moment(
                  Instant.now().plus(ahead.get()), System.nanoTime() + ahead.get().toNanos()));
  private final Fault denied = Fault.Answer.s3(403, "AccessDenied");

  @BeforeEach
  void enforcePolicy() {
    Predicate<Request> first = Match.header("If-None-Match");
    Predicate<Request> next = Match.header("If-Match");
    Predicate<Request> making =
        Match.operation("PUT")
            .and(Match.pathContains("partNumber=").negate())
            .or(Match.operation("POST").and(Match.pathContains("uploadId=")));
    Predicate<Request> once =
        Match.pathContains("/datasets/").or(Match.pathContains("/metastore/manifests/"));
    deny(making.and(first.negate()).and(next.negate()));
    deny(making.and(once).and(first.negate()));
    deny(
        Match.operation("DELETE").and(Match.pathContains("uploadId=").negate()).and(next.negate()));
  }

  private void deny(Predicate<Request> what) {
    lake.proxy().add(Rule.always(what, denied));
  }

  @AfterEach
  void close() {
    lake.close();
  }

  private DatasetFile store(String id, int bytes) throws InterruptedException {
    return switch (dataset.store("orders", 0, RecordId.of(id), new byte[bytes], () -> {})) {
      case StoreResult.Listed(DatasetFile file) -> file;
      case StoreResult.Rejected(String cause) -> throw new AssertionError(cause);
    };
  }

  @Test
  void policy_isInTheWayOfNothing() throws InterruptedException {
    dataset.verify();
    DatasetFile small = store("small", 3);
    DatasetFile inParts = store("in parts", LocalLake.PART + 1);
    lake.manifests().forEach(manifest -> lake.put(manifest, new byte[] {'{'}));
    lake.put(RootObject.PATH, "oops".getBytes(UTF_8));

    assertThat(dataset.repair()).contains(new Repair(2, 0, 0));
    ahead.set(OldManifests.KEPT.plusMinutes(1));
    dataset.repair();

    assertThat(lake.listed()).containsExactlyInAnyOrder(small, inParts);
    assertThat(lake.manifests()).as("the damaged ones are removed").hasSize(1);
  }

  @Test
  void damagedManifest_isSaidToTakeADelete_beforeItIsPutBack() throws InterruptedException {
    DatasetFile file = store("a", 3);
    Manifest manifest = lake.root().manifests(file.partition()).getFirst();
    lake.put(Manifests.path(file.partition(), manifest.name()), new byte[] {'{'});

    assertThatThrownBy(
            () -> new Manifests(lake.client(), lake.bucket(), "").read(file.partition(), manifest))
        .isInstanceOf(UnreadableManifestException.class)
        .hasMessageContainingAll(
            List.of("delete-object --if-match", "put-object --if-none-match '*'", "dataset repair")
                .toArray(String[]::new));
  }
}
