package io.firstclaim.stack.server;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** A server as a child process: started when it answers, killed, restarted, paused, closed. */
public abstract sealed class ServerProcess implements AutoCloseable
    permits DynamoDbServer, KafkaBroker, S3Server {
  static final Duration START_TIMEOUT = Duration.ofMinutes(10);

  private final WorkDirectory directory;
  private final JvmCommand command;
  private final Path log;
  private final BooleanSupplier ready;
  private ChildJvm child;

  /**
   * Starts the server and waits until it is ready.
   *
   * @param log the name of its log in the directory
   */
  ServerProcess(WorkDirectory directory, String log, JvmCommand command, BooleanSupplier ready) {
    this.directory = directory;
    this.command = command;
    this.log = directory.path().resolve(log);
    this.ready = ready;
    try {
      this.child = launch();
    } catch (RuntimeException e) {
      directory.deleteIfTemporary();
      throw e;
    }
  }

  private ChildJvm launch() {
    ChildJvm started = ChildJvm.start(command, log, directory.scratch());
    try {
      started.awaitReady("ready", ready, START_TIMEOUT);
      return started;
    } catch (RuntimeException e) {
      started.close();
      throw e;
    }
  }

  public final long pid() {
    return child.pid();
  }

  public final Path log() {
    return log;
  }

  /** Ends the server at once (SIGKILL). */
  public void kill() {
    child.kill();
  }

  /**
   * Starts the server again, after {@link #kill()} or as it runs, on its port. A broker has its
   * data, a store is empty.
   */
  public final void restart() {
    kill();
    child.close();
    child = launch();
  }

  /** Stops the server where it is (SIGSTOP). */
  public final void pause() {
    child.pause();
  }

  /** Lets a paused server go on (SIGCONT). */
  public final void resume() {
    child.resume();
  }

  /** Ends the server at once and deletes its directory if it is a temporary one. */
  @Override
  public final void close() {
    child.close();
    directory.deleteIfTemporary();
  }
}
