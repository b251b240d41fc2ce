package io.firstclaim.processor.service.acts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.service.acts.ActMessage.RedriveBegun;
import io.firstclaim.processor.service.acts.RedriveSpec.Selection;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages on the topic of acts, which instances of other versions read and have written. */
class ActFormatTest {
  private static final List<Range> RANGES = List.of(new Range("orders.dlt", 0, 3, 9));

  private static RedriveBegun begun(RedriveSpec spec) {
    return new RedriveBegun("r-1", spec, "otto", "mended", "2030-01-01T00:00:00Z");
  }

  static Stream<RedriveSpec> specs() {
    return Stream.of(
            RedriveSpec.ofRecord("order-1").thatMayBeDone(),
            RedriveSpec.ofIds(List.of("order-2", "order-1"), 7),
            RedriveSpec.of(new Selection.Filter("orders", null, null, null), 10, 7),
            RedriveSpec.of(
                    new Selection.Filter(
                        "orders", "timeout", "2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z"),
                    10,
                    7)
                .withDelay(Duration.ofMinutes(10)))
        .map(spec -> spec.withRanges(RANGES));
  }

  @ParameterizedTest
  @MethodSource("specs")
  void redrive_isReadAsItWasWritten(RedriveSpec spec) throws IOException {
    assertThat(ActFormat.read(ActFormat.write(begun(spec)))).contains(begun(spec));
  }

  @Test
  void selection_isWrittenBesideTheRest_asAllVersionsReadIt() {
    assertThat(ActFormat.write(begun(RedriveSpec.ofRecord("order-1").withRanges(RANGES))))
        .asString(UTF_8)
        .contains("\"record\":\"order-1\"", "\"limit\":1")
        .doesNotContain("selection");
  }

  @Test
  void redriveThatAnEarlierVersionBegan_isKnown() throws IOException {
    String written =
        """
        {"type":"redrive-begun","id":"r-1","spec":{"topic":"orders","record":null,"ids":null,
        "cause":"timeout","since":null,"until":null,"limit":10,"rate":7,"delay":null,
        "mayBeDone":false,"ranges":[{"topic":"orders.dlt","partition":0,"from":3,"to":9}]},
        "by":"otto","reason":"mended","at":"2030-01-01T00:00:00Z"}
        """;

    assertThat(ActFormat.read(written.getBytes(UTF_8)))
        .contains(
            begun(
                RedriveSpec.of(new Selection.Filter("orders", "timeout", null, null), 10, 7)
                    .withRanges(RANGES)));
  }
}
