package io.firstclaim.lock.keeper;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WorkerTest {
  private final Worker worker = new Worker();

  @Test
  void workUnderWay_isInterrupted_once() {
    worker.begin();
    worker.interrupt();
    assertThat(Thread.interrupted()).isTrue();

    worker.interrupt();

    assertThat(Thread.interrupted()).isFalse();
    assertThat(worker.end()).isTrue();
  }

  @Test
  void workThatWasInterruptedBeforeItBegan_isInterruptedAtItsBeginning() {
    worker.interrupt();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();

    worker.begin();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(worker.end()).isTrue();
  }

  @Test
  void interruptionThatNobodyHeeded_isGoneAfterTheWork() {
    worker.begin();
    worker.interrupt();
    assertThat(worker.end()).isTrue();
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void interruptionByAnybodyElse_isLeftToWhomItWasMeantFor() {
    worker.begin();
    Thread.currentThread().interrupt();
    assertThat(worker.end()).isTrue();
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void workThatIsThrough_isInterruptedNoMore_norAbandoned() {
    worker.begin();
    assertThat(worker.end()).isTrue();

    worker.interrupt();

    assertThat(Thread.interrupted()).isFalse();
    assertThat(worker.abandon()).isFalse();
  }

  @Test
  void abandonedWork_hearsOfItAtItsEnd() {
    worker.begin();
    assertThat(worker.abandon()).isTrue();
    assertThat(worker.abandon()).isFalse();
    assertThat(worker.end()).isFalse();
  }
}
