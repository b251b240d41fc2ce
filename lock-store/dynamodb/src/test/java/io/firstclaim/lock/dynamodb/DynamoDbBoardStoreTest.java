package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.testkit.board.StatusBoardContract;

class DynamoDbBoardStoreTest extends StatusBoardContract {
  @Override
  protected BoardStore store(String board) {
    return new DynamoDbBoardStore(
        LocalDynamoDb.client(), LocalDynamoDb.TABLE, board, TimeSource.system());
  }
}
