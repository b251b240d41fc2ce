package io.firstclaim.processor.engine.identity;

import io.firstclaim.lock.RecordId;
import java.util.List;

/** What is known of a record's identity. */
public sealed interface Identity {
  /**
   * The record has an ID.
   *
   * @param id the same in every zone and on every delivery
   * @param resources what it touches, sorted, each once
   */
  record Found(RecordId id, List<RecordId> resources) implements Identity {
    /** Keeps a copy. */
    public Found {
      resources = List.copyOf(resources);
    }

    /** A record that touches nothing that is claimed with it. */
    public Found(RecordId id) {
      this(id, List.of());
    }
  }

  /**
   * The record has an ID, but it touches what cannot be claimed with it: it is not processed but
   * becomes a dead letter.
   *
   * @param id the same in every zone and on every delivery
   * @param cause what is wrong, in one printable line
   */
  record Unclaimable(RecordId id, String cause) implements Identity {}

  /**
   * The record has no ID that can be used: it is not processed but becomes a dead letter.
   *
   * @param standIn names this delivery, {@code unidentified:<topic>:<the topic's
   *     ID>:<partition>:<offset>}: the same in every zone, so that the zones agree on who writes
   *     the dead letter. No record has it as its ID.
   * @param cause what is wrong, in one printable line
   */
  record Missing(RecordId standIn, String cause) implements Identity {}
}
