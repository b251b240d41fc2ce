package example.inbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TransfersTest {
  private static final RecordId ID = RecordId.of("transfer-1");
  private static final String PAYLOAD = "alice,bob,30";

  private final ManualTime time = ManualTime.start();
  private final MemoryClaimStore claims =
      new MemoryClaimStore(ClaimSettings.of("bank", "zone-a"), time);
  private final Deduplicator deduplicator = Deduplicator.builder(claims, time).build();
  private final JdbcConnectionPool database =
      JdbcConnectionPool.create(
          "jdbc:h2:mem:bank;MODE=PostgreSQL;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=600000", "sa", "");
  private final Transfers transfers = new Transfers(database);

  @BeforeEach
  void open() throws SQLException {
    try (Connection db = database.getConnection()) {
      Inbox.update(db, "drop table if exists inbox");
      Inbox.update(db, "drop table if exists account");
      Inbox.update(db, Inbox.TABLE);
      Inbox.update(db, "create table account (name varchar primary key, balance bigint not null)");
      Inbox.update(db, "insert into account values ('alice', 100), ('bob', 0)");
    }
  }

  @AfterEach
  void close() {
    database.dispose();
  }

  @Test
  void recordDeliveredTwice_movesTheMoneyOnce() throws Exception {
    assertThat(deliver()).isEqualTo(new RunResult.Ran("Done[result=null, effects=null]"));
    assertThat(deliver()).isInstanceOf(RunResult.DoneBefore.class);
    assertThat(balance("alice")).isEqualTo(70);
    assertThat(balance("bob")).isEqualTo(30);
  }

  @Test
  void crashBetweenCommitAndCompletion_movesTheMoneyOnce() throws Exception {
    long token = claim();
    assertThat(handle(token, PAYLOAD)).isEqualTo(HandlerResult.done());

    // The process dies here. Another one takes over, and is told that it is done.
    time.advance(Duration.ofMinutes(1));
    assertThat(deliver()).isEqualTo(new RunResult.Ran("Done[result=null, effects=null]"));
    assertThat(claims.find(ID).orElseThrow().token()).isGreaterThan(token);
    assertThat(balance("bob")).isEqualTo(30);
  }

  @Test
  void staleHolder_isRefusedByTheSink() throws Exception {
    long stale = claim(); // and is paused past its lease
    time.advance(Duration.ofMinutes(1));
    assertThat(handle(claim(), "alice,bob,300")).isEqualTo(new HandlerResult.Failed("not covered"));

    give("alice", 1000); // now it would be covered, but it is a dead letter
    assertThat(handle(stale, "alice,bob,300")).isInstanceOf(HandlerResult.Retry.class);
    assertThatThrownBy(() -> new Inbox(database).apply(ID, stale, _ -> true))
        .isInstanceOf(StaleTokenException.class)
        .hasMessage("a higher token than 1 was here");
    assertThat(balance("bob")).isZero();
  }

  @Test
  void higherToken_mayApplyWhatALowerOneCouldNot() throws Exception {
    assertThat(handle(1, "alice,bob,300")).isEqualTo(new HandlerResult.Failed("not covered"));
    give("alice", 1000);
    assertThat(handle(2, "alice,bob,300")).isEqualTo(HandlerResult.done());
    assertThat(balance("bob")).isEqualTo(300);
  }

  @Test
  void recordThatComesAgainAfterItsClaimIsForgotten_isStillDone() throws Exception {
    assertThat(handle(3, PAYLOAD)).isEqualTo(HandlerResult.done());
    assertThat(handle(1, PAYLOAD)).isEqualTo(HandlerResult.done());
    assertThat(balance("bob")).isEqualTo(30);
  }

  @Test
  void transferToNobody_takesNothing() throws Exception {
    assertThat(handle(1, "alice,nobody,30")).isEqualTo(new HandlerResult.Failed("not covered"));
    assertThat(balance("alice")).isEqualTo(100);
  }

  @Test
  void manyHoldersAtOnce_moveTheMoneyOnce() throws Exception {
    try (var threads = Executors.newCachedThreadPool()) {
      List<Future<HandlerResult>> results = new ArrayList<>();
      for (long token = 1; token <= 8; token++) {
        long mine = token;
        results.add(threads.submit(() -> handle(mine, PAYLOAD)));
      }
      for (Future<HandlerResult> result : results) {
        assertThat(result.get())
            .isInstanceOfAny(HandlerResult.Done.class, HandlerResult.Retry.class);
      }
      assertThat(results.getLast().get()).isEqualTo(HandlerResult.done());
    }
    assertThat(balance("alice")).isEqualTo(70);
    assertThat(balance("bob")).isEqualTo(30);
  }

  @Test
  void recordThatIsNoTransfer_isGivenUp() throws Exception {
    for (String value : List.of("", "alice,bob", "alice,bob,-30", "alice,bob,9999999999")) {
      assertThat(handle(1, value)).isInstanceOf(HandlerResult.Failed.class);
    }
    assertThat(balance("alice")).isEqualTo(100);
  }

  private RunResult deliver() throws InterruptedException {
    return deduplicator.run(
        ID, Fingerprint.none(), lease -> handle(lease.token(), PAYLOAD).toString());
  }

  private long claim() {
    var claim = Claim.of(ID, Fingerprint.none(), time.now());
    return ((ClaimResult.Granted) claims.claim(claim)).lease().token();
  }

  private HandlerResult handle(long token, String value) throws SQLException {
    return transfers.handle(new Call(token, value));
  }

  private void give(String name, long amount) throws SQLException {
    try (Connection db = database.getConnection()) {
      Inbox.update(db, "update account set balance = balance + ? where name = ?", amount, name);
    }
  }

  private long balance(String name) throws SQLException {
    try (Connection db = database.getConnection();
        var query = db.prepareStatement("select balance from account where name = ?")) {
      query.setString(1, name);
      try (var row = query.executeQuery()) {
        assertThat(row.next()).isTrue();
        return row.getLong(1);
      }
    }
  }

  /** A call as the engine would make it under this token. */
  private record Call(long token, String value) implements RecordContext {
    @Override
    public RecordId id() {
      return ID;
    }

    @Override
    public ConsumerRecord<byte[], byte[]> record() {
      return new ConsumerRecord<>("transfers", 0, 0, null, value.getBytes(UTF_8));
    }

    @Override
    public int attempt() {
      return 1;
    }

    @Override
    public String zone() {
      return "a";
    }

    @Override
    public Instant deadline() {
      return Instant.MAX;
    }

    @Override
    public void ensureHeld() {}
  }
}
