package io.firstclaim.processor.service.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.service.acts.RedriveCounts;
import io.firstclaim.processor.service.acts.RedriveSpec;
import io.firstclaim.processor.service.redrive.Job;
import io.firstclaim.processor.service.redrive.Position;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RedrivesShownTest {
  private static Job job(String id, Job.State state) {
    return new Job(
        id,
        RedriveSpec.ofIds(List.of(id), 50),
        "otto",
        "mended",
        "2026-11-02T10:00:00Z",
        state,
        new Position(0, 0),
        RedriveCounts.NONE,
        0,
        null,
        1,
        "a/one",
        1);
  }

  /** It could be neither paused nor cancelled on the page. */
  @Test
  void redriveThatIsNotOver_isListed_howeverManyCameAfterIt() {
    List<Job> newestFirst = new ArrayList<>();
    for (int i = 30; i > 0; i--) {
      newestFirst.add(job("record-" + i, Job.State.DONE));
    }
    newestFirst.add(job("long", Job.State.RUNNING));

    List<Job> shown = RedrivesController.shown(newestFirst);

    assertThat(shown).hasSize(21);
    assertThat(shown.getFirst().id()).isEqualTo("long");
    assertThat(shown.get(1).id()).isEqualTo("record-30");
  }
}
