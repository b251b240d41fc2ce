package example.inbox;

import io.firstclaim.lock.RecordId;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import javax.sql.DataSource;

/**
 * Remembers each record in the transaction of its effect: whether it is applied, and the highest
 * token that was here, so that whoever has a lower one is refused. The SQL is PostgreSQL's, and
 * H2's in PostgreSQL mode. Thread-safe.
 */
public final class Inbox {
  static final String TABLE =
      """
      create table inbox (
        record_id bytea primary key, token bigint not null, applied boolean not null)
      """;

  private final DataSource database;

  /** Over this database, which has the {@link #TABLE}. */
  public Inbox(DataSource database) {
    this.database = database;
  }

  /** What a record does to the database. */
  @FunctionalInterface
  public interface Effect {
    /**
     * Makes the changes, without committing them.
     *
     * @return false if the record cannot be applied, and what was changed is to be undone
     */
    boolean apply(Connection transaction) throws SQLException;
  }

  /**
   * Applies the effect unless that was done before, in one transaction.
   *
   * @return whether it is applied, now or before, whatever the token; if not, no lower token can
   *     apply it any more
   * @throws StaleTokenException if a higher token was here, and did not apply it
   * @throws SQLException if the database failed; the transaction is rolled back, or its end
   *     unknown: then try again
   */
  public boolean apply(RecordId id, long token, Effect effect)
      throws SQLException, StaleTokenException {
    try (Connection db = database.getConnection()) {
      db.setAutoCommit(false);
      try {
        update(db, "insert into inbox values (?, 0, false) on conflict do nothing", id.bytes());
        // Others with this ID wait here until the transaction ends, and then see what it wrote.
        String raise =
            """
            update inbox set token = greatest(token, ?)
            where record_id = ? and (token <= ? or applied)
            """;
        if (update(db, raise, token, id.bytes(), token) == 0) {
          throw new StaleTokenException("a higher token than %d was here".formatted(token));
        }
        Savepoint before = db.setSavepoint();
        boolean applied = isApplied(db, id) || effect.apply(db);
        if (!applied) {
          db.rollback(before);
        }
        update(db, "update inbox set applied = ? where record_id = ?", applied, id.bytes());
        db.commit();
        return applied;
      } finally {
        db.rollback(); // nothing, after a commit
      }
    }
  }

  private static boolean isApplied(Connection db, RecordId id) throws SQLException {
    try (var query = db.prepareStatement("select applied from inbox where record_id = ?")) {
      query.setBytes(1, id.bytes());
      try (var row = query.executeQuery()) {
        return row.next() && row.getBoolean(1);
      }
    }
  }

  /** Runs a statement with these values, and returns how many rows it changed. */
  static int update(Connection db, String sql, Object... values) throws SQLException {
    try (var statement = db.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      return statement.executeUpdate();
    }
  }
}
