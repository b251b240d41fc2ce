package io.firstclaim.processor.service.cli;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What a command of the lock store is about: a record, unless an option says what else. */
final class Target {
  /** The options that say what it is, if it is no record. */
  static final class Kind {
    @Option(names = "--mutex", description = "ID is the name of a mutex.")
    private boolean mutex;

    @Option(names = "--resource", description = "ID is the name of what records touch.")
    private boolean resource;

    @Option(
        names = "--board",
        paramLabel = "BOARD",
        description = "ID is the key of an item of this board.")
    private @Nullable String board;

    private RecordId of(RecordId name) {
      return mutex ? name.asMutex() : resource ? name.asResource() : name;
    }
  }

  @ArgGroup private @Nullable Kind kind;

  @Parameters(index = "0", paramLabel = "ID", description = "As it is printed.")
  private String id = "";

  /** The board whose item it is; null if it is none. */
  @Nullable String board() {
    return kind == null ? null : kind.board;
  }

  /** What was given: the key of an item as it is, else a {@link RecordId#text()}. */
  String text() {
    return id;
  }

  /**
   * The ID of what is claimed.
   *
   * @throws WrongSettingException if nothing is called so
   */
  RecordId id() {
    RecordId named = parsed(id);
    return kind == null ? named : kind.of(named);
  }

  private static RecordId parsed(String text) {
    try {
      return RecordId.parse(text);
    } catch (IllegalArgumentException e) {
      throw new WrongSettingException(
          "claim",
          OneLine.of(text, 100),
          "give the ID as logs and outcomes print it, 1 to %d bytes".formatted(RecordId.MAX_BYTES));
    }
  }
}
