package io.firstclaim.processor.service.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.service.acts.ActFormat;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.Range;
import io.firstclaim.processor.service.acts.RedriveSpec;
import io.firstclaim.processor.service.acts.RedriveSpec.Selection;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Whatever is on the topic of acts: anybody may write to a topic. */
class ActsFuzzTest {
  private static final RedriveSpec SPEC =
      RedriveSpec.of(new Selection.Filter("orders", null, null, null), 5, 1)
          .withRanges(List.of(new Range("orders.dlt", 0, 0, 9)));

  @FuzzTest(maxDuration = "10m")
  void anyMessage_isAnActThatCanBeShown_orNone(byte[] json) {
    JobBook book = new JobBook();
    book.hear(new ActMessage.RedriveBegun("known", SPEC, "otto", "mended", "2030-01-01T00:00:00Z"));
    Optional<ActMessage> read;
    try {
      read = ActFormat.read(json);
    } catch (IOException e) {
      return; // it says that it is none
    }
    read.ifPresent(book::hear);

    for (Job job : book.all()) {
      assertThat(new RedriveId(job.id()).text()).isEqualTo(job.id());
      assertThat(new FrozenSet(job.spec())).isNotNull();
      assertThat(job.spec().rate()).isPositive();
      assertThat(job.read()).isNotNegative();
      assertThat(job.size()).isNotNegative();
      assertThat(job.notBefore()).isNotNull();
      assertThat(job.counts()).isNotNull();
      assertThat(List.of(job.by(), job.reason(), job.at(), job.instance())).hasSize(4);
    }
  }
}
