package io.firstclaim.processor.dataset;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The registry as 0.1.0 wrote it, which had all files in it: {@code {"updatedAt", "files", "bytes",
 * "partitions": {PARTITION: {"files", "bytes", "sizes": {NAME: bytes}}}}}.
 */
final class VersionOne {
  private VersionOne() {}

  /**
   * The files that it lists.
   *
   * @throws IllegalArgumentException if it is not one
   */
  static List<DatasetFile> files(JsonNode json) {
    JsonNode partitions = json.path("partitions");
    if (!partitions.isObject()) {
      throw new IllegalArgumentException("it is not a JSON object with partitions");
    }
    List<DatasetFile> files = new ArrayList<>();
    for (Map.Entry<String, JsonNode> partition : partitions.properties()) {
      for (Map.Entry<String, JsonNode> file : partition.getValue().path("sizes").properties()) {
        JsonNode size = file.getValue();
        long bytes = size.isIntegralNumber() && size.canConvertToLong() ? size.asLong() : -1;
        files.add(
            DatasetFile.parse(partition.getKey() + "/" + file.getKey(), bytes)
                .filter(parsed -> parsed.bytes() >= 0)
                .orElseThrow(
                    () -> new IllegalArgumentException("it lists a file that cannot be one")));
      }
    }
    return files;
  }
}
