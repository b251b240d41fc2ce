package io.firstclaim.lock.h2;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.StoreClock;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;

/** The tests' database, in memory. */
final class H2 {
  private static final DataSource DATABASE = start();

  private H2() {}

  static ClaimStore store(ClaimSettings settings, TimeSource time) {
    return new H2ClaimStore(DATABASE, settings, time);
  }

  static ClaimStore store(ClaimSettings settings, StoreClock clock) {
    return new H2ClaimStore(DATABASE, settings, clock);
  }

  private static DataSource start() {
    var pool = JdbcConnectionPool.create("jdbc:h2:mem:claims;DB_CLOSE_DELAY=-1", "sa", "");
    pool.setMaxConnections(64);
    try (var connection = pool.getConnection();
        var statement = connection.createStatement()) {
      statement.execute(H2ClaimStore.TABLE);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return pool;
  }
}
