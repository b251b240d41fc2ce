package io.firstclaim.processor.engine.identity;

import io.firstclaim.lock.RecordId;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The resources found in a record so far, each once, or why it cannot be processed. */
final class Resources {
  /** How many may be claimed with a record. */
  static final int MOST = 20;

  private final SortedSet<RecordId> ids = new TreeSet<>();
  private @Nullable String fault;

  /** A record touches this. Nothing, if it is empty. */
  void add(byte[] name) {
    if (name.length > RecordId.MAX_BYTES) {
      refuse(
          "the record names a resource of %d bytes, more than %d"
              .formatted(name.length, RecordId.MAX_BYTES));
    } else if (name.length > 0 && fault == null && ids.add(RecordId.of(name).asResource())) {
      requireFew();
    }
  }

  private void requireFew() {
    if (ids.size() > MOST) {
      refuse("the record names more than %d resources".formatted(MOST));
    }
  }

  /** What the record names cannot be claimed; the first reason stays. */
  void refuse(String cause) {
    if (fault == null) {
      fault = cause;
    }
  }

  void addAll(Resources others) {
    if (others.fault != null) {
      refuse(others.fault);
    } else if (ids.addAll(others.ids)) {
      requireFew();
    }
  }

  /** The IDs of the resources, sorted, each once. */
  List<RecordId> ids() {
    return List.copyOf(ids);
  }

  /** Why the record cannot be processed, in one printable line; null if it can. */
  @Nullable String fault() {
    return fault;
  }
}
