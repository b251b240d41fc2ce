package io.firstclaim.processor.service.config;

import io.firstclaim.lock.s3.ProtectedPrefix;
import io.firstclaim.processor.dataset.DatasetSettings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A bucket that should have a policy.
 *
 * @param name of the bucket
 * @param prefixes what the policy protects in it
 */
public record ProtectedBucket(String name, List<ProtectedPrefix> prefixes) {
  /** The protected buckets of the claims and of a dataset; none if neither is on S3. */
  static List<ProtectedBucket> of(Backend backend, Optional<DatasetSettings> dataset) {
    Map<String, List<ProtectedPrefix>> byName = new LinkedHashMap<>();
    if (backend instanceof Backend.S3 claims) {
      byName.put(
          claims.bucket(), new ArrayList<>(List.of(ProtectedPrefix.onCondition(claims.prefix()))));
    }
    dataset.ifPresent(
        place ->
            byName
                .computeIfAbsent(place.bucket(), _ -> new ArrayList<>())
                .addAll(place.protectedPrefixes()));
    return byName.entrySet().stream()
        .map(one -> new ProtectedBucket(one.getKey(), List.copyOf(one.getValue())))
        .toList();
  }
}
