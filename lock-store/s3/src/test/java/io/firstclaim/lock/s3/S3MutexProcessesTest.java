package io.firstclaim.lock.s3;

import io.firstclaim.lock.testkit.mutex.MutexProcessesContract;
import io.firstclaim.lock.testkit.process.JvmCommand;
import java.util.List;

class S3MutexProcessesTest extends MutexProcessesContract {
  @Override
  protected JvmCommand program(String name, String classPath) {
    return JvmCommand.ofMain(name, classPath, S3Contender.class.getName())
        .withArgs(List.of(LocalS3.endpoint().toString()));
  }
}
