package io.firstclaim.processor.audit.topology;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BoundedMemoryTest {
  private static final long MEGABYTE = 1 << 20;

  @Test
  void smallHeap_hasAQuarterOfItBesideIt_andALargeOneNoMoreThanTheMost() {
    assertThat(BoundedMemory.shared(76 * MEGABYTE)).isEqualTo(19 * MEGABYTE);
    assertThat(BoundedMemory.shared(4096 * MEGABYTE)).isEqualTo(64 * MEGABYTE);
  }
}
