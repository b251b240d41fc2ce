package io.firstclaim.processor.engine.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.List;

/** The places of IDs and resources are read or refused, whatever is set. */
class SourcesFuzzTest {
  @FuzzTest(maxDuration = "10m")
  void anyList_isOneOfSources_orRefused(byte[] bytes) {
    String list = new String(bytes, UTF_8);
    try {
      List<RecordIdSource> sources = RecordIdSource.parseList(list);
      assertThat(sources).isNotEmpty();
      assertThat(
              RecordIdSource.parseList(
                  sources.stream().map(RecordIdSource::text).collect(joining(","))))
          .isEqualTo(sources);
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("'");
    }
    try {
      assertThat(ResourceSource.parseList(list)).isNotEmpty();
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("'");
    }
  }
}
