package io.firstclaim.processor.audit.api;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the folder of the audit's state is made of. */
public final class StateFolder {
  /** How much a record takes there, as measured. */
  private static final long BYTES_A_RECORD = 412;

  private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");

  private StateFolder() {}

  /**
   * Whether a folder, which need not be there yet, is in memory, and for how much there is room.
   *
   * @return one line for people; empty if it is on a disk, or that cannot be said
   */
  public static Optional<String> inMemory(Path folder) {
    try {
      FileStore store = Files.getFileStore(existing(folder.toAbsolutePath().normalize()));
      return IN_MEMORY.contains(store.type())
          ? Optional.of(
              "it is in memory (%s of %,d MB, for some %,d records within firstclaim.claim.retention)"
                  .formatted(
                      store.type(),
                      store.getTotalSpace() >> 20,
                      store.getTotalSpace() / BYTES_A_RECORD))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static Path existing(Path folder) {
    @Nullable Path parent = folder.getParent();
    return Files.exists(folder) || parent == null ? folder : existing(parent);
  }
}
