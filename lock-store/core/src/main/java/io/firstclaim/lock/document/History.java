package io.firstclaim.lock.document;

import io.firstclaim.lock.Nonce;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The last write of each of the last {@value #WRITERS} writers of a document, the newest first. It
 * is written with the document, so that a writer whose answer was lost can see whether its write
 * took, however many writes came after it, as long as they are not by that many writers.
 *
 * <p>A writer is the high half of its nonces; see {@link Nonce#next()}. The first entry of all is
 * of a writer that writes nothing else, the document's birth: as long as none was dropped, a
 * document that was deleted and made anew by the same writers is told apart by it. Of a document
 * that an earlier version of this library made, it is missing.
 *
 * @param writes the nonces of the writes
 */
public record History(List<Nonce> writes) {
  /** As many as fit in the 2 KB that S3 keeps beside an object, with room to spare. */
  public static final int WRITERS = 48;

  /** The history of a document that is not there. */
  public static final History NONE = new History(List.of());

  /** Copies the list. */
  public History {
    writes = List.copyOf(writes);
  }

  /** The history after one more write. */
  public History with(Nonce write) {
    List<Nonce> after = new ArrayList<>(WRITERS);
    after.add(write);
    writes.stream()
        .filter(earlier -> earlier.high() != write.high())
        .limit(WRITERS - 1)
        .forEach(after::add);
    return new History(after);
  }

  /** The newest write. */
  public Nonce latest() {
    return writes.getFirst();
  }

  /** Whether it has this write. */
  public boolean has(Nonce write) {
    return writes.contains(write);
  }

  /**
   * Whether it would still have this write, had that been applied to the document with the history
   * {@code before}: none has been dropped since, or one that would have been dropped earlier is
   * still here. Not if it has begun anew since, as when something else wrote the document.
   */
  public boolean wouldHave(Nonce write, History before) {
    return writes.size() < WRITERS
        ? !writes.isEmpty() && before.writes.stream().allMatch(this::hasWriterOf)
        : hasWriterOf(write) || before.writes.stream().anyMatch(this::has);
  }

  private boolean hasWriterOf(Nonce write) {
    return writes.stream().anyMatch(one -> one.high() == write.high());
  }

  /**
   * The history that {@link #toString()} printed.
   *
   * @throws IllegalArgumentException if it did not
   */
  public static History parse(String text) {
    return new History(Arrays.stream(text.split(",", -1)).map(Nonce::parse).toList());
  }

  /** The nonces, separated by commas; ASCII, at most 1,583 characters. */
  @Override
  public String toString() {
    return writes.stream().map(Nonce::toString).collect(Collectors.joining(","));
  }
}
