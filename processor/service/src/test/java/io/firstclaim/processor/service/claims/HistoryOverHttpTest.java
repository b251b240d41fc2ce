package io.firstclaim.processor.service.claims;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.processor.service.claims.ClaimApi.Answer;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random histories of claims over HTTP, on a network that loses every third answer once the request
 * was applied, and delivers every fifth request twice. Whoever gets no answer sends the same again,
 * with its key. Each answer must be that of a model of one claim.
 */
class HistoryOverHttpTest {
  private static final int STEPS = 150;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration OVER = Duration.ofSeconds(32);

  private static ClaimApi api;
  private static FaultProxy network;
  private static ClaimApi client;

  @BeforeAll
  static void start() throws InterruptedException {
    api = ClaimApi.start(Map.of());
    network = FaultProxy.start(api.address());
    client = api.through(network.endpoint());
    network.add(Rule.always(Match.everyNth(3), new Fault.ResetAfterApply()));
    network.add(Rule.always(Match.everyNth(5), new Fault.Duplicate()));
  }

  @AfterAll
  static void stop() {
    network.close();
    api.close();
  }

  /** A grant that somebody was told of. */
  private record Grant(long token, String handle, String key) {}

  /** What a claim is, by the answers so far. */
  private static final class Model {
    final String id = ClaimApi.newId();
    final List<Grant> grants = new ArrayList<>();
    @Nullable Grant current;
    @Nullable Instant end;
    @Nullable String result;
  }

  private static Answer send(String path, String body, String key) {
    while (true) {
      try {
        return client.tried(ClaimApi.CLAIMER, "POST", path, body, Map.of("Idempotency-Key", key));
      } catch (IOException e) {
        // The answer is lost: the same again.
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void everyAnswer_isThatOfOneClaim_thoughAnswersAreLost(long seed) {
    Random random = new Random(seed);
    Model claim = new Model();
    for (int step = 0; step < STEPS; step++) {
      int dice = random.nextInt(100);
      if (dice < 15) {
        api.time().advance(random.nextBoolean() ? Duration.ofSeconds(10) : OVER);
      } else if (dice < 55 || claim.grants.isEmpty()) {
        claim(claim, UUID.randomUUID().toString());
      } else {
        Grant grant = claim.grants.get(random.nextInt(claim.grants.size()));
        Grant newest = claim.grants.getLast();
        step(claim, random.nextBoolean() ? newest : grant, dice);
      }
      if (claim.result != null && random.nextInt(4) == 0) {
        claim = new Model();
      }
    }
  }

  private static Instant now() {
    return api.time().now().wall();
  }

  private static void claim(Model claim, String key) {
    boolean held =
        claim.current != null
            && claim.end != null
            && !now().isAfter(claim.end.plus(Duration.ofSeconds(1)));

    Answer answer = send("/api/claims/" + claim.id, "{}", key);

    if (claim.result != null) {
      assertThat(answer.require(200).text("result")).isEqualTo(claim.result);
    } else if (held) {
      answer.require(409);
    } else {
      long token = answer.require(201).body().path("token").asLong();
      assertThat(token).as("tokens rise by one").isEqualTo(claim.grants.size() + 1);
      claim.current = new Grant(token, answer.handle(), key);
      claim.grants.add(claim.current);
      claim.end = now().plus(LEASE);
    }
  }

  private static void step(Model claim, Grant grant, int dice) {
    String path = "/api/claims/%s/%s/".formatted(claim.id, grant.handle());
    String key = UUID.randomUUID().toString();
    boolean isHolders = grant.equals(claim.current);
    if (dice < 75) {
      Answer renewed = send(path + "renew", "{}", key);
      assertThat(renewed.status()).isEqualTo(isHolders ? 200 : 409);
      if (isHolders) {
        claim.end = now().plus(LEASE);
      }
    } else if (dice < 90) {
      boolean again =
          claim.current == null && claim.result == null && grant.equals(claim.grants.getLast());
      Answer released = send(path + "release", "{}", key);
      assertThat(released.status()).isEqualTo(isHolders || again ? 200 : 409);
      if (isHolders) {
        claim.current = null;
      }
    } else {
      String result = "by " + key;
      Answer completed = send(path + "complete", "{\"result\":\"%s\"}".formatted(result), key);
      assertThat(completed.status()).isEqualTo(isHolders ? 200 : 409);
      if (isHolders) {
        claim.current = null;
        claim.result = result;
      }
    }
  }
}
