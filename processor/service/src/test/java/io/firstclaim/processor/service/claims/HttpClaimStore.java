package io.firstclaim.processor.service.claims;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.Sighting;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.service.claims.ClaimApi.Answer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The claims of a server as a claim store: each method is a request, sent again with its key until
 * it is answered. It begins every ID with its namespace, as one server has only one. What others
 * see of a claim, and what operators do, goes by the server's own store.
 */
final class HttpClaimStore implements ClaimStore, ClaimOperations {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The handles of all grants, as the leases of one holder may be another object's. */
  private static final Map<String, String> HANDLES = new ConcurrentHashMap<>();

  private final ClaimApi api;
  private final DrivenClaimStore seen;
  private final ClaimSettings settings;
  private final TimeSource time;
  private final String prefix;

  /**
   * @param api a way to the server
   * @param seen the server's own store
   */
  HttpClaimStore(ClaimApi api, DrivenClaimStore seen, ClaimSettings settings, TimeSource time) {
    this.api = api;
    this.seen = seen;
    this.settings = settings;
    this.time = time;
    byte[] namespace = settings.namespace().getBytes(StandardCharsets.UTF_8);
    this.prefix = Fingerprint.of(namespace).toString().substring(0, 8) + "-";
  }

  /** The ID on the server; the longest, which have no room, are themselves. */
  private RecordId there(RecordId id) {
    byte[] begin = prefix.getBytes(StandardCharsets.US_ASCII);
    if (begin.length + id.length() > RecordId.MAX_BYTES) {
      return id;
    }
    ByteBuffer all = ByteBuffer.allocate(begin.length + id.length());
    return RecordId.of(all.put(begin).put(id.bytes()).array()).in(id.space());
  }

  private String here(String text) {
    return text.startsWith(prefix) ? text.substring(prefix.length()) : text;
  }

  private static String path(RecordId id) {
    StringBuilder path = new StringBuilder("/api/claims/");
    for (byte each : id.bytes()) {
      path.append("%%%02X".formatted(each));
    }
    return path.toString();
  }

  private Answer send(String path, ObjectNode body, String key) {
    while (true) {
      try {
        Answer answer =
            api.tried(
                ClaimApi.CLAIMER, "POST", path, body.toString(), Map.of("Idempotency-Key", key));
        if (answer.status() != 503) {
          return answer;
        }
      } catch (IOException e) {
        // The answer is lost: the same again.
      }
    }
  }

  @Override
  public ClaimResult claim(Claim claim) {
    ObjectNode body =
        JSON.createObjectNode()
            .put("holder", settings.holder())
            .put("lease", settings.lease().toMillis() + "ms");
    if (!claim.fingerprint().equals(Fingerprint.none())) {
      body.put("fingerprint", claim.fingerprint().toString());
    }
    if (!claim.resources().isEmpty()) {
      var resources = body.putArray("resources");
      claim.resources().forEach(each -> resources.add(there(each.id()).text()));
    }
    Answer answer = send(path(there(claim.id())), body, claim.nonce().toString());
    return switch (answer.status()) {
      case 201 -> granted(claim, answer);
      case 200 -> new ClaimResult.Done(ending(answer), text(answer, "result"));
      case 409 -> notNow(claim, answer);
      case 410 -> new ClaimResult.Dead(ending(answer), answer.text("cause"));
      case 422 -> new ClaimResult.Mismatch(stored(claim));
      default -> throw new AssertionError(answer.all().body());
    };
  }

  private ClaimResult.Granted granted(Claim claim, Answer answer) {
    Handle handle = Handle.parse(answer.handle());
    Lease lease =
        new Lease(
            claim.id(),
            settings.holder(),
            handle.token(),
            answer.body().path("attempt").asInt(),
            claim.fingerprint(),
            handle.grant(),
            claim.start(),
            settings.lease());
    List<Lease> resources = new ArrayList<>();
    for (Claim each : claim.resources()) {
      resources.add(resource(each, lease, answer));
    }
    HANDLES.put(key(lease), answer.handle());
    return new ClaimResult.Granted(lease.withResources(resources), null);
  }

  private Lease resource(Claim claim, Lease lease, Answer answer) {
    long token = answer.body().path("resourceTokens").path(there(claim.id()).text()).asLong();
    return new Lease(
        claim.id(),
        lease.holder(),
        token,
        1,
        true,
        Fingerprint.none(),
        lease.nonce(),
        lease.start(),
        lease.length(),
        null,
        lease.id().text(),
        List.of(),
        null);
  }

  private static String key(Lease lease) {
    return "%s %d %d".formatted(lease.id(), lease.token(), lease.nonce().high());
  }

  private static @Nullable String text(Answer answer, String field) {
    JsonNode found = answer.body().path(field);
    return found.isTextual() ? found.asText() : null;
  }

  private static Ending ending(Answer answer) {
    return new Ending(
        answer.text("holder"),
        answer.body().path("token").asLong(),
        answer.body().path("attempts").asInt(),
        Instant.parse(answer.text("at")));
  }

  /** The answer says only that it is another. */
  private Fingerprint stored(Claim claim) {
    return find(claim.id()).orElseThrow().fingerprint();
  }

  private ClaimResult notNow(Claim claim, Answer answer) {
    Duration wait =
        Duration.ofSeconds(Long.parseLong(Objects.requireNonNull(answer.header("Retry-After"))));
    Moment now = time.now();
    return switch (answer.text("state")) {
      case "HELD" -> {
        long token = answer.body().path("token").asLong();
        yield new ClaimResult.Held(
            answer.text("holder"),
            token,
            wait,
            new Sighting(token, claim.nonce(), now, settings.lease()));
      }
      case "FREE" ->
          new ClaimResult.Later(
              Optional.ofNullable(text(answer, "retryAt")).map(Instant::parse).orElse(AT_ONCE),
              answer.body().path("attempts").asInt());
      case "BLOCKED" -> {
        List<ClaimResult.InTheWay> way = new ArrayList<>();
        for (JsonNode each : answer.body().path("inTheWay")) {
          way.add(
              new ClaimResult.InTheWay(
                  RecordId.of(here(each.path("resource").asText())).asResource(),
                  each.path("holder").asText(),
                  here(each.path("onBehalfOf").asText()),
                  wait,
                  null));
        }
        yield new ClaimResult.Blocked(way);
      }
      default -> throw new AssertionError(answer.all().body());
    };
  }

  private SettleResult step(Lease lease, String step, ObjectNode body) {
    Moment before = time.now();
    String known = HANDLES.get(key(lease));
    String handle =
        known != null ? known : new Handle(lease.token(), lease.nonce(), List.of()).text();
    Answer answer =
        send(
            "%s/%s/%s".formatted(path(there(lease.id())), handle, step),
            body,
            UUID.randomUUID().toString());
    return switch (answer.status()) {
      case 200 -> new SettleResult.Settled(lease.renewed(before));
      case 409 -> new SettleResult.Lost(text(answer, "holder"));
      default -> throw new AssertionError(answer.all().body());
    };
  }

  @Override
  public SettleResult renew(Lease lease) {
    return step(lease, "renew", JSON.createObjectNode());
  }

  @Override
  public SettleResult complete(Lease lease, @Nullable String result) {
    return step(lease, "complete", JSON.createObjectNode().put("result", result));
  }

  @Override
  public SettleResult release(Lease lease, Instant retryAt, String cause) {
    ObjectNode body = JSON.createObjectNode().put("cause", cause);
    return step(
        lease, "release", retryAt.equals(AT_ONCE) ? body : body.put("retryAt", retryAt.toString()));
  }

  @Override
  public SettleResult bury(Lease lease, String cause) {
    return step(lease, "bury", JSON.createObjectNode().put("cause", cause));
  }

  @Override
  public Optional<ClaimRecord> find(RecordId id) {
    return seen.find(there(id));
  }

  @Override
  public String identity() {
    return seen.identity();
  }

  @Override
  public ReleaseResult release(RecordId id, String reason) {
    return seen.release(there(id), reason);
  }

  @Override
  public ReleaseResult release(RecordId id, long token, String reason) {
    return seen.release(there(id), token, reason);
  }

  @Override
  public RedriveResult redrive(
      RecordId id, Fingerprint payload, RedriveId by, @Nullable String reason) {
    return seen.redrive(there(id), payload, by, reason);
  }

  @Override
  public boolean undoRedrive(
      RecordId id, RedriveId by, long token, int attempts, ClaimState.Dead end) {
    return seen.undoRedrive(there(id), by, token, attempts, end);
  }
}
