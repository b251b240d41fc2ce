package io.firstclaim.processor.service.acts;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.firstclaim.lock.RedriveId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What is on the topic of acts, as JSON. Times are in ISO 8601, by the writer's clock. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = ActMessage.Act.class, name = "act"),
  @JsonSubTypes.Type(value = ActMessage.RedriveBegun.class, name = "redrive-begun"),
  @JsonSubTypes.Type(value = ActMessage.RedriveTold.class, name = "redrive-told"),
  @JsonSubTypes.Type(value = ActMessage.RedriveTaken.class, name = "redrive-taken"),
  @JsonSubTypes.Type(value = ActMessage.RedriveProgress.class, name = "redrive-progress"),
  @JsonSubTypes.Type(value = ActMessage.Dismissed.class, name = "dismissed"),
  @JsonSubTypes.Type(value = ActMessage.Acknowledged.class, name = "acknowledged"),
  @JsonSubTypes.Type(value = ActMessage.Pause.class, name = "pause")
})
public sealed interface ActMessage {
  /** The ID of the act or of the redrive. */
  String id();

  /** Whether something is about to be done, or what came of it. */
  enum Phase {
    INTENT,
    RESULT
  }

  /**
   * Somebody is about to do something, or has done it.
   *
   * @param id that intent and result have in common
   * @param act what, such as {@code release}
   * @param target to which record, redrive or instance
   * @param reason why, as its doer said
   * @param by who
   * @param zone of the instance that was asked
   * @param instance that was asked
   * @param result what came of it; null of an intent
   */
  record Act(
      String id,
      Phase phase,
      String act,
      String target,
      String reason,
      String by,
      String zone,
      String instance,
      String at,
      @Nullable String result)
      implements ActMessage {
    /** Checks that it says what it must. */
    public Act {
      require(id, phase, act, target, reason, by, zone, instance, at);
    }
  }

  /**
   * A redrive has begun. A second one of the same ID says nothing.
   *
   * @param by who began it
   * @param reason why
   */
  record RedriveBegun(String id, RedriveSpec spec, String by, String reason, String at)
      implements ActMessage {
    /** Checks that it says what it must, and that the ID is one. */
    public RedriveBegun {
      require(id, spec, by, reason, at);
      var _ = new RedriveId(id);
      var _ = spec.delay() == null ? null : Instant.parse(at).plus(Duration.parse(spec.delay()));
    }
  }

  /** What an operator may tell a redrive. */
  enum Command {
    PAUSE,
    RESUME,
    CANCEL
  }

  /** An operator tells a redrive something. */
  record RedriveTold(String id, Command command, String by, String reason, String at)
      implements ActMessage {
    /** Checks that it says what it must. */
    public RedriveTold {
      require(id, command, by, reason, at);
    }
  }

  /**
   * An instance works on a redrive from now on. What others said before this is its beginning, and
   * what they say after it is of no account.
   *
   * @param token of its mutex
   */
  record RedriveTaken(String id, long token, String instance, String at) implements ActMessage {
    /** Checks that it says what it must. */
    public RedriveTaken {
      require(id, instance, at);
    }
  }

  /** How a redrive ended by itself. */
  enum End {
    /** All its letters are dealt with. */
    DONE,
    /** Most of those it moved died again; an operator may resume it. */
    STOPPED
  }

  /**
   * How far a redrive is. All before the position is counted, nothing after it: whoever goes on
   * begins there.
   *
   * @param token of the writer's mutex; what comes with a lower one than was seen is of no account
   * @param instance the writer
   * @param range the position: which of the redrive's ranges
   * @param offset the position: the next offset in it
   * @param counts of what is before the position
   * @param underWay records moved after the position whose end is not known yet
   * @param note what it waits for, or why it stopped
   * @param end how it ended; null if it goes on
   */
  record RedriveProgress(
      String id,
      long token,
      String instance,
      String at,
      int range,
      long offset,
      RedriveCounts counts,
      int underWay,
      @Nullable String note,
      @Nullable End end)
      implements ActMessage {
    /** Checks that it says what it must, and that the position is one. */
    public RedriveProgress {
      require(id, instance, at, counts);
      if (range < 0 || offset < 0 || underWay < 0) {
        throw new IllegalArgumentException(
            "no redrive is at range %d, offset %d, with %d under way"
                .formatted(range, offset, underWay));
      }
    }

    /** The same message, said at this time. */
    public RedriveProgress saidAt(String time) {
      return new RedriveProgress(
          id, token, instance, time, range, offset, counts, underWay, note, end);
    }
  }

  /**
   * Dead records need no redrive. Of what one record died of under one token, the first dismissal
   * counts.
   *
   * @param store the identity of the lock store that they died in
   * @param records which, and of which of their ends
   * @param by who says so
   * @param reason why
   */
  record Dismissed(
      String id, String store, List<Death> records, String by, String reason, String at)
      implements ActMessage {
    /** Checks that it says what it must, and keeps a copy. */
    public Dismissed {
      require(id, store, records, by, reason, at);
      records = List.copyOf(records);
    }
  }

  /**
   * The end of a record that was given up.
   *
   * @param record its printable ID
   * @param token of the claim that ended so: a redrive makes it a higher one
   * @param died when it was given up; null in what an earlier build has written
   */
  record Death(String record, long token, @Nullable String died) {
    /** Checks that it says what it must. */
    public Death {
      require(record);
      if (died != null) {
        var _ = Instant.parse(died);
      }
    }
  }

  /**
   * Somebody has seen what must not have happened to a record: it needs no alert any more.
   *
   * @param record its printable ID
   * @param by who has seen it
   * @param reason why it needs none
   */
  record Acknowledged(String id, String record, String by, String reason, String at)
      implements ActMessage {
    /** Checks that it says what it must. */
    public Acknowledged {
      require(id, record, by, reason, at);
      var _ = Instant.parse(at);
    }
  }

  /** Whose instances take no records. */
  enum Scope {
    ZONE,
    APPLICATION
  }

  /**
   * A zone, or the whole application, takes no more records, or does again. The last one of a scope
   * counts, whatever was started since.
   *
   * @param zone which; of no account if all are meant
   * @param paused whether no records are taken
   * @param by who says so
   * @param reason why
   */
  record Pause(
      String id, Scope scope, String zone, boolean paused, String by, String reason, String at)
      implements ActMessage {
    /** Checks that it says what it must. */
    public Pause {
      require(id, scope, zone, by, reason, at);
    }
  }

  /** What is read may lack anything: whoever may write to the topic can have written it. */
  private static void require(Object... fields) {
    for (Object field : fields) {
      Object _ = Objects.requireNonNull(field, "a field is missing");
    }
  }
}
