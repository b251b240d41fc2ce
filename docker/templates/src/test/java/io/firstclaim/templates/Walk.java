package io.firstclaim.templates;

import static io.firstclaim.lock.testkit.Claimant.freed;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult.Blocked;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.board.Change;
import io.firstclaim.lock.board.StatusBoard;
import io.firstclaim.lock.board.TransitionResult;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.board.Status;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/** Everything that a service and its operators do with a store, once. */
final class Walk {
  private static final TimeSource TIME = TimeSource.system();
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private Walk() {}

  static void claims(DrivenClaimStore store) throws Exception {
    Claimant a = new Claimant(store, TIME);
    Claimant b = new Claimant(store.forHolder("b", Duration.ofSeconds(30)), TIME);
    RecordId id = RecordId.of("order-1");

    Lease lease = settled(store.renew(a.acquire(id)));
    var _ = b.heldOff(id);
    var _ = settled(store.release(lease, ClaimStore.AT_ONCE, "again"));
    long token = a.acquire(id).token();
    assertThat(store.resume(id, token, lease.nonce())).isEmpty();
    var _ = store.release(id, "by an operator");
    var _ = settled(store.bury(a.acquire(id), "HTTP 422"));
    assertThat(freed(store.redrive(id, Claimant.PAYLOAD, RedriveId.random()))).isPositive();
    var _ = settled(store.complete(a.acquire(id), "done"));
    assertThat(store.find(id)).isPresent();
    assertThat(store.find(RecordId.of("order-0"))).isEmpty();

    resources(store, a);
    try (Mutex two = new Mutex(store, List.of(RecordId.of("x"), RecordId.of("y")), "a test", TIME);
        var held = two.acquire(PATIENCE).orElseThrow()) {
      held.ensureHeld();
    }
    manyAtOnce(a);
  }

  /** Blocked, released, and completed. */
  private static void resources(DrivenClaimStore store, Claimant a) {
    List<RecordId> accounts = List.of(RecordId.of("account-x"), RecordId.of("account-y"));
    Lease first = granted(store, a.newClaim(RecordId.of("order-2")).withResources(accounts));
    Claim second = a.newClaim(RecordId.of("order-3")).withResources(accounts);
    assertThat(store.claim(second)).isInstanceOf(Blocked.class);
    var _ = settled(store.release(settled(store.renew(first)), ClaimStore.AT_ONCE, "again"));
    Claim third = a.newClaim(RecordId.of("order-4")).withResources(accounts);
    var _ = settled(store.complete(granted(store, third), null));
  }

  private static Lease granted(ClaimStore store, Claim claim) {
    return ((Granted) store.claim(claim)).lease();
  }

  /** So many that some share a request, where requests are shared. */
  private static void manyAtOnce(Claimant a) throws Exception {
    List<Callable<Lease>> all =
        IntStream.range(0, 100)
            .mapToObj(
                i ->
                    (Callable<Lease>)
                        () -> settled(a.store().complete(a.acquire(RecordId.of("many-" + i)), "")))
            .toList();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<Lease> each : threads.invokeAll(all)) {
        var _ = each.get();
      }
    }
  }

  static void documents(DocumentStore store, String folder) throws InterruptedException {
    SharedDocuments documents = new SharedDocuments(store, TIME);
    DocumentKey key = DocumentKey.of(folder + "billing/prices");
    for (String text : List.of("one", "two")) {
      assertThat(documents.update(key, PATIENCE, _ -> text)).isEqualTo(text);
    }
    assertThat(documents.deleteIf(key, PATIENCE, "two"::equals)).contains("two");
  }

  static void board(BoardStore store) throws InterruptedException {
    StatusBoard<Status> board = new StatusBoard<>(store, Status.RULES, TIME);
    assertThat(
            board.transition(
                List.of(
                    Change.ofFree("orders", Status.NORMAL, Status.EDITING, "ada"),
                    Change.ofFree("customers", Status.NORMAL, Status.LOCKED, "ada"))))
        .isInstanceOf(TransitionResult.Moved.class);
    assertThat(board.list()).hasSize(2);
    assertThat(board.find("orders").status()).isEqualTo(Status.EDITING);
  }
}
