package io.firstclaim.lock.memory;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.testkit.board.StatusBoardContract;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

class MemoryBoardStoreTest extends StatusBoardContract {
  private final Map<String, BoardStore> boards = new ConcurrentHashMap<>();

  @Override
  protected BoardStore store(String board) {
    return boards.computeIfAbsent(board, _ -> new MemoryBoardStore(TimeSource.system()));
  }
}
