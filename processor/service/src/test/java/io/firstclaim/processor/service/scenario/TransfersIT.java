package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random transfers between accounts, in two zones, of which one is killed and the other stands
 * still for longer than a lease: an account is only ever in one transfer's hands.
 */
@Order(2)
@OneBackend(Backend.DYNAMODB)
class TransfersIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final int ACCOUNTS = 50;
  private static final int TRANSFERS =
      Integer.getInteger("transfers", Boolean.getBoolean("soak") ? 5000 : 150);

  @RegisterExtension final Scenario scenario;

  private final Bank bank = new Bank();

  TransfersIT(Backend backend) {
    scenario = new Scenario(backend, 4);
  }

  /**
   * Reads a balance, takes its time, and writes it: two transfers at once on one account would
   * change the sum. Like any sink it may refuse who comes with a lower token than the last.
   */
  private static final class Bank implements Sink.Behaviour {
    private static final int OPENING = 1_000;
    private static final int TRY_AGAIN = 408;
    private static final Pattern TOKEN = Pattern.compile("([^=, ]+)=(\\d+)");

    /** The hands that an account was in, by this machine's ticks. */
    record Hold(String account, String id, long start, long end) {}

    private final ObjectMapper json = new ObjectMapper();
    private final Map<String, Integer> balances = new ConcurrentHashMap<>();
    private final Map<String, Long> highest = new ConcurrentHashMap<>();
    private final List<Hold> history = new CopyOnWriteArrayList<>();

    Bank() {
      for (int i = 0; i < ACCOUNTS; i++) {
        balances.put(account(i), OPENING);
      }
    }

    static String account(int i) {
      return "account-" + i;
    }

    @Override
    public int answer(Call call) throws InterruptedException {
      JsonNode transfer = parsed(call.body());
      String from = transfer.required("from").textValue();
      String to = transfer.required("to").textValue();
      Map<String, Long> tokens = tokens(call);
      assertThat(tokens.keySet()).isEqualTo(new TreeSet<>(List.of(from, to)));
      long start = System.nanoTime();
      for (Map.Entry<String, Long> token : tokens.entrySet()) {
        if (highest.merge(token.getKey(), token.getValue(), Math::max) > token.getValue()) {
          return TRY_AGAIN;
        }
      }
      move(from, -1);
      move(to, 1);
      long end = System.nanoTime();
      tokens.keySet().forEach(account -> history.add(new Hold(account, call.id(), start, end)));
      return 200;
    }

    private void move(String account, int amount) throws InterruptedException {
      int balance = balances.getOrDefault(account, 0);
      Sink.takeTime(Duration.ofMillis(1), Duration.ofMillis(10));
      balances.put(account, balance + amount);
    }

    private JsonNode parsed(byte[] body) {
      try {
        return json.readTree(body);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static Map<String, Long> tokens(Call call) {
      Map<String, Long> tokens = new HashMap<>();
      Matcher token = TOKEN.matcher(call.headers().getFirst("Firstclaim-Resource-Tokens"));
      while (token.find()) {
        tokens.put(token.group(1), Long.parseLong(token.group(2)));
      }
      return tokens;
    }

    int sum() {
      return balances.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Fails if an account was in two hands at once. */
    void requireOneHandAtATime() {
      Map<String, Hold> last = new HashMap<>();
      history.stream()
          .sorted(Comparator.comparingLong(Hold::start))
          .forEach(
              hold -> {
                Hold before = last.put(hold.account(), hold);
                assertThat(before == null || before.end() <= hold.start())
                    .as("%s, then %s", before, hold)
                    .isTrue();
              });
    }
  }

  @Test
  void accountIsInOneHandAtATime_whateverBecomesOfTheZones() {
    scenario.sink().behave(bank);
    Zone a = scenario.zone("a").set("FIRSTCLAIM_CLAIM_RESOURCES", "json:/from,json:/to");
    Zone b = scenario.zone("b").set("FIRSTCLAIM_CLAIM_RESOURCES", "json:/from,json:/to");
    scenario.start();
    Random random = new Random(4711);
    Map<String, String> transfers = new LinkedHashMap<>();
    for (String id : Feed.ids("transfer", TRANSFERS)) {
      transfers.put(
          id,
          "{\"from\":\"%s\",\"to\":\"%s\"}"
              .formatted(
                  Bank.account(random.nextInt(ACCOUNTS)), Bank.account(random.nextInt(ACCOUNTS))));
    }
    List<String> ids = new ArrayList<>(transfers.keySet());
    List<String> first = ids.subList(0, TRANSFERS / 3);
    List<String> second = ids.subList(TRANSFERS / 3, 2 * TRANSFERS / 3);
    List<String> third = ids.subList(2 * TRANSFERS / 3, TRANSFERS);

    send(first, transfers);
    awaitCalls(first.size() / 4);
    a.kill();
    send(second, transfers);
    awaitCompleted(ids.subList(0, first.size() + second.size()));
    a.launch();
    a.awaitReady();
    int before = scenario.sink().calls().size();
    send(third, transfers);
    awaitCalls(before + third.size() / 4);
    b.pause();
    awaitCompleted(ids);
    b.resume();
    scenario.awaitAtTheEnd(a, b);

    bank.requireOneHandAtATime();
    assertThat(bank.sum()).isEqualTo(ACCOUNTS * Bank.OPENING);
    assertThat(scenario.outcomes().onlyOne("COMPLETED")).containsOnlyKeys(ids);
    assertThat(scenario.outcomes().of("DEAD")).isEmpty();
    System.err.printf(
        "%s: %d transfers, %d calls, %d blocked of %d claims (without those of the killed)%n",
        scenario.backend(),
        TRANSFERS,
        scenario.sink().calls().size(),
        claims("blocked", a, b),
        claims("", a, b));
  }

  private static long claims(String result, Zone... zones) {
    long sum = 0;
    for (Zone zone : zones) {
      sum += (long) zone.metric("firstclaim_claims_total", "result=\"" + result);
    }
    return sum;
  }

  private void send(Collection<String> ids, Map<String, String> transfers) {
    ids.forEach(id -> scenario.feed().send(id, Objects.requireNonNull(transfers.get(id))));
    scenario.feed().flush();
  }

  private void awaitCalls(int calls) {
    scenario
        .within(PATIENCE, calls + " calls")
        .untilAsserted(
            () -> assertThat(scenario.sink().calls()).hasSizeGreaterThanOrEqualTo(calls));
  }

  private void awaitCompleted(Collection<String> ids) {
    scenario.awaitCompleted(ids, PATIENCE);
  }
}
