package example.inbox;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Moves money from one account to another, once for each record; its value is {@code
 * FROM,TO,AMOUNT}. Given to {@code Engine.builder().handler(…)}; for the service's folder of jars,
 * a constructor without arguments makes the connection pool.
 */
public final class Transfers implements RecordHandler {
  private final Inbox inbox;

  /** Transfers between the accounts of this database, which has the inbox too. */
  public Transfers(DataSource database) {
    inbox = new Inbox(database);
  }

  @Override
  public HandlerResult handle(RecordContext transfer) throws SQLException {
    byte[] value = transfer.record().value();
    String[] fields = value == null ? new String[0] : new String(value, UTF_8).split(",", -1);
    if (fields.length != 3 || !fields[2].matches("[0-9]{1,9}")) {
      return new HandlerResult.Failed("not FROM,TO,AMOUNT");
    }
    long amount = Long.parseLong(fields[2]);
    try {
      return inbox.apply(
              transfer.id(), transfer.token(), db -> move(db, fields[0], fields[1], amount))
          ? HandlerResult.done()
          : new HandlerResult.Failed("not covered");
    } catch (StaleTokenException e) {
      // Another holder has the record, or had it. It is up to that one to record what became of it.
      return HandlerResult.retry(e.toString());
    }
  }

  private static boolean move(Connection db, String from, String to, long amount)
      throws SQLException {
    String take = "update account set balance = balance - ? where name = ? and balance >= ?";
    String give = "update account set balance = balance + ? where name = ?";
    return Inbox.update(db, take, amount, from, amount) == 1
        && Inbox.update(db, give, amount, to) == 1;
  }
}
