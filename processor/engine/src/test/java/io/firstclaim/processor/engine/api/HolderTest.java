package io.firstclaim.processor.engine.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HolderTest {
  @Test
  void name_isReadAsItWasWritten() {
    for (String instance : new String[] {"pod-1", "host/7", ""}) {
      Holder holder = new Holder("zone-a", instance);

      assertThat(Holder.parse(holder.toString())).isEqualTo(holder);
    }
  }

  @Test
  void nameWithoutASlash_isAnInstanceOfNoKnownZone() {
    assertThat(Holder.parse("somebody")).isEqualTo(new Holder("", "somebody"));
  }

  @Test
  void nameWhoseFirstPartCouldBeNoZone_isAnInstanceOfNoKnownZone() {
    for (String name : new String[] {"My Team/x", "<script>/x", "z".repeat(33) + "/x"}) {
      assertThat(Holder.parse(name)).isEqualTo(new Holder("", name));
    }
  }
}
