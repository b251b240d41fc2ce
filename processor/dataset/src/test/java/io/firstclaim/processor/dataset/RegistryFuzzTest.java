package io.firstclaim.processor.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import java.nio.ByteBuffer;
import java.util.List;

/** Whatever stands in the bucket as a root, as a manifest or as a file. */
class RegistryFuzzTest {
  private static final String PARTITION = "datasets/orders/year=2026/month=07/day=04";

  @FuzzTest(maxDuration = "10m")
  void anyText_isARootThatCanBeWrittenAgain_orSaidNotToBeOne(byte[] bytes) {
    try {
      switch (RootText.parse(new String(bytes, UTF_8))) {
        case RootText.Found.VersionOne(List<DatasetFile> files) -> {
          for (DatasetFile file : files) {
            assertThat(file.bytes()).isNotNegative();
            assertThat(new String(bytes, UTF_8)).contains(Long.toString(file.bytes()));
          }
        }
        case RootText.Found.Current found ->
            assertThat(RootText.parse(RootText.of(found.root()))).isEqualTo(found);
      }
    } catch (IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      assertThat(message).isEqualTo(OneLine.of(message));
    }
  }

  @FuzzTest(maxDuration = "10m")
  void anyText_isAManifestWithFilesOfItsPartition_orSaidNotToBeOne(byte[] bytes) {
    try {
      for (ListedFile file : ManifestText.parse(PARTITION, bytes)) {
        assertThat(file.file().partition()).isEqualTo(PARTITION);
        assertThat(file.file().bytes()).isNotNegative();
      }
    } catch (IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      assertThat(message).isEqualTo(OneLine.of(message));
    }
  }

  @FuzzTest(maxDuration = "10m")
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
