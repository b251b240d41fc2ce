package io.firstclaim.processor.service.claims;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.document.Document;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.lock.document.WriteResult;
import io.firstclaim.lock.memory.MemoryDocumentStore;
import io.firstclaim.processor.service.admin.Problem;
import io.firstclaim.processor.service.claims.ClaimApi.Answer;
import io.micronaut.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Deletions that are held up, or die: hours pass, so each test has a server of its own. */
class KeyedDeletionsTest {
  private final String path = "/api/documents/test/" + ClaimApi.newId() + ".json";
  private ClaimApi api;

  @BeforeEach
  void start() throws InterruptedException {
    api = ClaimApi.start(Map.of("firstclaim.claim.namespace", "orders.v2/eu"));
  }

  @AfterEach
  void stop() {
    api.close();
  }

  private Answer patch(String body) {
    return api.send("PATCH", path, body, Map.of());
  }

  private Answer get() {
    return api.send("GET", path, null, Map.of());
  }

  private Answer delete(Map<String, String> headers) {
    return api.send("DELETE", path, null, headers);
  }

  @Test
  void deletionThatAnInstanceDiedOf_isNotMadeOverWhatMayHaveBeenMadeSince() {
    Map<String, String> headers = Map.of("Idempotency-Key", "one");
    patch("{\"a\":1}").require(200);
    String document =
        DocumentsController.encoded("orders.v2/eu") + path.substring("/api/documents".length());
    WriteKey key = new WriteKey(Optional.of("one"), ClaimApi.CLAIMER);
    RecordId id = RecordId.of("deletion:" + key.nonce("deletion", document));
    api.store().claim(Claim.of(id, Fingerprint.none(), api.time().now()));

    assertThat(delete(headers).require(409).header("Retry-After")).isNotNull();
    api.time().advance(Duration.ofHours(1));
    assertThat(delete(headers).require(409).text("error")).contains("with another key");
    api.time().advance(Duration.ofHours(1));
    delete(headers).require(409);
    get().require(200);

    delete(Map.of()).require(200);
    api.time().advance(Duration.ofHours(1));
    assertThat(delete(headers).require(200).text("state")).isEqualTo("ABSENT");
    patch("{\"a\":2}").require(200);
    delete(headers).require(200);
    get().require(200);
  }

  /** As by a pause of its process, after which the key may be another request's. */
  @Test
  void deletionThatIsHeldUpPastItsLease_isNotMade() {
    DocumentStore kept = new MemoryDocumentStore();
    DocumentKey document = DocumentKey.of("held-up/" + ClaimApi.newId());
    assertThat(kept.write(document, null, "text", History.NONE.with(Nonce.random())))
        .isInstanceOf(WriteResult.Written.class);
    DocumentStore slow =
        new DocumentStore() {
          @Override
          public Optional<Document> find(DocumentKey key) {
            Optional<Document> found = kept.find(key);
            api.time().advance(Duration.ofHours(1));
            return found;
          }

          @Override
          public WriteResult write(
              DocumentKey key, @Nullable String version, String content, History history) {
            return kept.write(key, version, content, history);
          }

          @Override
          public WriteResult delete(DocumentKey key, String version) {
            return kept.delete(key, version);
          }
        };
    var deletions = new KeyedDeletions(api.grants(), slow, new SharedDocuments(slow, api.time()));
    var deletion = new KeyedDeletions.Deletion(document, Nonce.random(), "claimer", _ -> {});

    assertThatThrownBy(() -> deletions.once(deletion, deleted -> HttpResponse.ok()))
        .isInstanceOf(Problem.class)
        .hasMessageContaining("send it again");

    assertThat(kept.find(document)).isPresent();
  }
}
