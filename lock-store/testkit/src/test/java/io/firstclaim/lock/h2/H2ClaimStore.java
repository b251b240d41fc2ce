package io.firstclaim.lock.h2;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimState.Dead;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimState.Free;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.ClaimRecords;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.lock.store.StoreClock;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Claims in a table of an SQL database: what the author of a store has to write. */
final class H2ClaimStore extends DrivenClaimStore {
  static final String TABLE =
      """
      CREATE TABLE IF NOT EXISTS claims (id CHAR(64) PRIMARY KEY, token BIGINT, attempts INT,
        nonce CHAR(32), hash VARBINARY(32), state CHAR(4), holder VARCHAR(256), millis BIGINT,
        at BIGINT, note VARCHAR, redrive VARCHAR(64));
      CREATE TABLE IF NOT EXISTS store (one INT PRIMARY KEY, identity CHAR(32))\
      """;

  H2ClaimStore(DataSource database, ClaimSettings settings, TimeSource time) {
    this(database, settings, StoreClock.ofMachine(time));
  }

  H2ClaimStore(DataSource database, ClaimSettings settings, StoreClock clock) {
    super(new Rows(database, settings.namespace(), clock), settings, clock);
  }

  private record Rows(DataSource database, String namespace, StoreClock clock)
      implements ClaimRecords {
    private interface Work<R> {
      R with(PreparedStatement statement) throws SQLException;
    }

    @Override
    public Optional<Stored> read(RecordId id) {
      return sql(
          "SELECT * FROM claims WHERE id = ?",
          select -> {
            select.setString(1, id.key(namespace));
            try (ResultSet row = select.executeQuery()) {
              return row.next()
                  ? Optional.of(new Stored(decode(row), null, clock.now()))
                  : Optional.empty();
            }
          });
    }

    @Override
    public Write write(
        StoreOperation op, RecordId id, ClaimRecord next, @Nullable Stored on, Moment now) {
      boolean took = sql(sqlOf(on), write -> isWritten(write, new ConditionalPut(id, next, on)));
      return took ? new Write.Took(null) : new Write.Differs(read(id).orElse(null));
    }

    private static String sqlOf(@Nullable Stored on) {
      return on == null
          ? "INSERT INTO claims (token, attempts, nonce, hash, state, holder, millis, at,"
              + " note, redrive, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
          : "UPDATE claims SET token = ?, attempts = ?, nonce = ?, hash = ?, state = ?,"
              + " holder = ?, millis = ?, at = ?, note = ?, redrive = ? WHERE id = ? AND nonce = ?"
              + " AND state = ? AND token = ?";
    }

    private boolean isWritten(PreparedStatement write, ConditionalPut change) throws SQLException {
      encode(change.next(), write);
      write.setString(11, change.id().key(namespace));
      Stored on = change.on();
      if (on != null) {
        write.setString(12, on.claim().nonce().toString());
        write.setString(13, kind(on.claim().state()));
        write.setLong(14, on.claim().token());
      }
      try {
        return write.executeUpdate() == 1;
      } catch (SQLIntegrityConstraintViolationException e) {
        return false;
      }
    }

    @Override
    public Optional<Together> together() {
      return Optional.of(new Transactions());
    }

    private final class Transactions implements Together {
      @Override
      public Map<RecordId, Stored> read(Collection<RecordId> ids) {
        Map<RecordId, Stored> found = new HashMap<>();
        ids.forEach(id -> Rows.this.read(id).ifPresent(stored -> found.put(id, stored)));
        return found;
      }

      @Override
      public Writes write(
          StoreOperation op, List<ConditionalPut> changes, @Nullable Effects effects, Moment now) {
        if (effects != null) {
          throw new IllegalArgumentException("no effects in this store");
        }
        if (isCommitted(changes)) {
          return new Writes.Took();
        }
        Map<RecordId, Optional<Stored>> found = new HashMap<>();
        changes.forEach(change -> found.put(change.id(), Rows.this.read(change.id())));
        return new Writes.Differ(found);
      }

      private boolean isCommitted(List<ConditionalPut> changes) {
        try (Connection connection = database.getConnection()) {
          connection.setAutoCommit(false);
          for (ConditionalPut change : changes) {
            try (PreparedStatement write = connection.prepareStatement(sqlOf(change.on()))) {
              if (!isWritten(write, change)) {
                connection.rollback();
                return false;
              }
            }
          }
          connection.commit();
          return true;
        } catch (SQLException e) {
          throw new StoreUnavailableException("the database did not answer: " + e.getMessage(), e);
        }
      }
    }

    @Override
    public String identity() {
      boolean _ =
          sql(
              "INSERT INTO store (one, identity) SELECT 1, ? WHERE NOT EXISTS (TABLE store)",
              insert -> {
                insert.setString(1, Nonce.random().toString());
                try {
                  return insert.executeUpdate() == 1;
                } catch (SQLIntegrityConstraintViolationException e) {
                  return false;
                }
              });
      return sql(
          "SELECT identity FROM store",
          select -> {
            try (ResultSet row = select.executeQuery()) {
              row.next();
              return row.getString(1);
            }
          });
    }

    private <R> R sql(String sql, Work<R> work) {
      try (Connection connection = database.getConnection();
          PreparedStatement statement = connection.prepareStatement(sql)) {
        return work.with(statement);
      } catch (SQLException e) {
        throw new StoreUnavailableException("the database did not answer: " + e.getMessage(), e);
      }
    }

    private static void encode(ClaimRecord claim, PreparedStatement row) throws SQLException {
      row.setLong(1, claim.token());
      row.setInt(2, claim.attempts());
      row.setString(3, claim.nonce().toString());
      row.setBytes(4, claim.fingerprint().hash());
      row.setString(5, kind(claim.state()));
      row.setString(10, claim.redrive() == null ? null : claim.redrive().text());
      switch (claim.state()) {
        case Held(var by, var length, var end, var behalf) -> state(row, by, length, end, behalf);
        case Free(var at, var cause) -> state(row, null, Duration.ZERO, at, cause);
        case Done(var by, var at, var result) -> state(row, by, Duration.ZERO, at, result);
        case Dead(var by, var at, var cause) -> state(row, by, Duration.ZERO, at, cause);
      }
    }

    private static String kind(ClaimState state) {
      return switch (state) {
        case Held _ -> "HELD";
        case Free _ -> "FREE";
        case Done _ -> "DONE";
        case Dead _ -> "DEAD";
      };
    }

    private static void state(
        PreparedStatement row,
        @Nullable String holder,
        Duration length,
        Instant at,
        @Nullable String note)
        throws SQLException {
      row.setString(6, holder);
      row.setLong(7, length.toMillis());
      row.setLong(8, at.toEpochMilli());
      row.setString(9, note);
    }

    private static ClaimRecord decode(ResultSet row) throws SQLException {
      String holder = row.getString("holder");
      String note = row.getString("note");
      String redrive = row.getString("redrive");
      Instant at = Instant.ofEpochMilli(row.getLong("at"));
      ClaimState state =
          switch (row.getString("state")) {
            case "HELD" -> new Held(holder, Duration.ofMillis(row.getLong("millis")), at, note);
            case "FREE" -> new Free(at, note);
            case "DONE" -> new Done(holder, at, note);
            default -> new Dead(holder, at, note);
          };
      return new ClaimRecord(
          row.getLong("token"),
          row.getInt("attempts"),
          Nonce.parse(row.getString("nonce")),
          Fingerprint.ofHash(row.getBytes("hash")),
          state,
          redrive == null ? null : new RedriveId(redrive));
    }
  }
}
