package io.firstclaim.processor.service.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.processor.audit.api.Minute;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Whatever answers at the address of another instance. */
class PeersFuzzTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final Overview OWN =
      new Overview(
          List.of(ZoneMinute.of(Minute.empty("a", Instant.EPOCH))),
          new Overview.Count(1, true),
          new Overview.Count(0, true),
          new Overview.Count(0, true),
          0L,
          List.of(new Overview.Breach("x", "COMPLETED_TWICE", "z", "a", "a1", 1, 2, "otto: seen")),
          List.of());

  @FuzzTest(maxDuration = "10m")
  void anyAnswer_isAPageThatCanBeMerged_orNone(byte[] answer) {
    try {
      ListPage<OutcomeView> page = Peers.page(JSON.readTree(answer));
      assertThat(AuditHistory.merge(List.of(page, page), 5).items()).hasSizeLessThanOrEqualTo(5);
    } catch (IOException e) {
      assertThat(e.getMessage()).isNotNull(); // it says that it is none
    }
  }

  @FuzzTest(maxDuration = "10m")
  void anyAnswer_isAnOverviewThatCanBeAddedUp_orNone(byte[] answer) {
    try {
      JsonNode tree = JSON.readTree(answer);
      Optional<Overview> other = Peers.overview(tree);
      if (other.isPresent()) {
        assertThat(OWN.plus(other.get()).shown().minutes()).isNotEmpty();
      }
    } catch (IOException | IllegalArgumentException e) {
      assertThat(e.getMessage()).isNotNull(); // it says that it is none
    }
  }
}
