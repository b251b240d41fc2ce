package example.tables;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.StatusBoard;
import io.firstclaim.lock.memory.MemoryBoardStore;
import io.micronaut.context.annotation.Factory;
import io.micronaut.runtime.Micronaut;
import jakarta.inject.Singleton;

/** Serves the page and what it asks for on http://localhost:8080/. */
@Factory
final class Application {
  /** Called by Java. */
  public static void main(String[] args) {
    Micronaut.run(Application.class, args);
  }

  @Singleton
  StatusBoard<TableStatus> board() {
    var time = TimeSource.system();
    return new StatusBoard<>(new MemoryBoardStore(time), Tables.TRANSITIONS, time);
  }
}
