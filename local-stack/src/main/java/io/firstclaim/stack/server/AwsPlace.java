package io.firstclaim.stack.server;

import io.firstclaim.lock.testkit.process.StackException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A table or a prefix of a bucket in AWS that was given to be written to: empty before, and emptied
 * afterwards. Account, Region and endpoint are the AWS SDK's own settings.
 */
public interface AwsPlace extends AutoCloseable {
  /** The table or bucket of this system property, if it was given. */
  static Optional<String> given(String property) {
    String name = System.getProperty(property, "");
    // Maven passes on ${name} for a property that nobody set.
    return name.isEmpty() || name.equals("${" + property + "}")
        ? Optional.empty()
        : Optional.of(name);
  }

  /** What it is called, for messages. */
  String name();

  /** The keys of all claims and documents that are there. */
  Stream<String> keys();

  /** Deletes what is there. */
  void empty();

  /**
   * Refuses to go on where something is there, as all of it would be deleted afterwards.
   *
   * @throws StackException if it is not empty
   */
  default void requireEmpty() {
    try (Stream<String> keys = keys()) {
      List<String> some = keys.limit(3).toList();
      if (!some.isEmpty()) {
        throw new StackException(
            "%s is not empty (%s): give one that is, as all in it is deleted afterwards"
                .formatted(name(), String.join(", ", some)));
      }
    }
  }

  /** Empties it. */
  @Override
  default void close() {
    empty();
  }
}
