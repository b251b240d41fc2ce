package io.firstclaim.processor.service.scenario;

/** Something that a thread of its own does until it is interrupted, which closing does. */
final class Background implements AutoCloseable {
  /** What is done; ends by the exception. */
  @FunctionalInterface
  interface Task {
    void run() throws InterruptedException;
  }

  private final Thread thread;

  Background(String name, Task task) {
    thread =
        Thread.ofPlatform()
            .name(name)
            .daemon()
            .start(
                () -> {
                  try {
                    task.run();
                  } catch (InterruptedException e) {
                    // it was closed
                  }
                });
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
