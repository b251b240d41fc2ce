package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.testkit.mutex.MutexProcessesContract;
import io.firstclaim.lock.testkit.process.JvmCommand;
import java.util.List;

class DynamoDbMutexProcessesTest extends MutexProcessesContract {
  @Override
  protected JvmCommand program(String name, String classPath) {
    return JvmCommand.ofMain(name, classPath, DynamoDbContender.class.getName())
        .withArgs(List.of(LocalDynamoDb.endpoint().toString()));
  }
}
