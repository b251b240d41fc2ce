package io.firstclaim.lock.memory;

import io.firstclaim.lock.Effects;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.testkit.board.StatusBoardContract;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

class MemoryBoardStoreTest extends StatusBoardContract {
  private final Map<String, BoardStore> boards = new ConcurrentHashMap<>();
  private final Map<String, Integer> counters = new ConcurrentHashMap<>();

  @Override
  protected BoardStore store(String board) {
    return boards.computeIfAbsent(board, _ -> new MemoryBoardStore(TimeSource.system()));
  }

  @Override
  protected Effects count(String counter, int most) {
    return new MemoryEffects(
        () -> {
          if (counted(counter) >= most) {
            throw new EffectsRefusedException("it has come to " + most);
          }
          counters.merge(counter, 1, Integer::sum);
        });
  }

  @Override
  protected int counted(String counter) {
    return counters.getOrDefault(counter, 0);
  }
}
