package io.firstclaim.lock.testkit.framework;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import java.util.List;
import java.util.Map;

/**
 * An application whose instances have the {@link Diary} do the work, with claims in a table of
 * DynamoDB that they share.
 *
 * @param main the class that starts it
 * @param settings its own, as the JVM's arguments
 * @param environment the variables by which the AWS SDK finds the table
 */
public record DiaryApplication(
    Class<?> main, List<String> settings, Map<String, String> environment) {
  public DiaryApplication {
    settings = List.copyOf(settings);
    environment = Map.copyOf(environment);
  }

  /** Starts an instance of this name, whose log lies beside the diary. */
  ChildJvm start(String instance, Diary diary) {
    JvmCommand command =
        JvmCommand.ofMain(instance, System.getProperty("java.class.path"), main.getName())
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withJvmArgs(diary.settings(instance))
            .withJvmArgs(settings)
            .withJvmArgs(
                List.of(
                    "-Dfirstclaim.instance=" + instance,
                    "-Dfirstclaim.claim.backend=dynamodb",
                    "-Dfirstclaim.claim.create=true",
                    "-Dfirstclaim.claim.lease=20s")) // longer than a busy machine stands still
            .withEnv(environment);
    return ChildJvm.start(command, diary.file().resolveSibling(instance + ".log"));
  }
}
