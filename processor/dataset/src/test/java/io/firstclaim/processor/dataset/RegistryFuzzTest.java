package io.firstclaim.processor.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;

/** Whatever stands in the bucket as a registry or as a file. */
class RegistryFuzzTest {
  @FuzzTest(maxDuration = "3m")
  void anyText_isARegistryThatCanBeWrittenAgain_orSaidNotToBeOne(byte[] bytes) {
    try {
      Registry registry = Registry.parse(new String(bytes, UTF_8));
      List<DatasetFile> files = registry.files();
      Registry again = Registry.parse(registry.text(Instant.EPOCH));

      assertThat(again.files()).isEqualTo(files);
      for (DatasetFile file : files) {
        assertThat(file.bytes()).isNotNegative();
        assertThat(new String(bytes, UTF_8)).contains(Long.toString(file.bytes()));
      }
    } catch (IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      assertThat(message).isEqualTo(OneLine.of(message));
    }
  }

  @FuzzTest(maxDuration = "3m")
  void anyTopic_isAFolderOfItsOwn_orRefused(byte[] bytes) {
    String topic = new String(bytes, UTF_8);
    long timestamp = bytes.length < 8 ? bytes.length : ByteBuffer.wrap(bytes).getLong();
    try {
      DatasetFile file = DatasetFile.of(topic, timestamp, RecordId.of("order-1"), 7);

      assertThat(DatasetFile.parse(file.path(), 7)).contains(file);
      assertThat(file.path().split("/")).hasSize(6).doesNotContain(".", "..", "");
    } catch (IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      assertThat(message).isEqualTo(OneLine.of(message));
    }
    DatasetFile.parse(topic, 7)
        .ifPresent(
            file -> {
              assertThat(file.path()).isEqualTo(topic);
              assertThat(topic.split("/")).doesNotContain(".", "..", "");
            });
  }
}
