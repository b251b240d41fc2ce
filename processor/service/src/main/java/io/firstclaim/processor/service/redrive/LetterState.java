package io.firstclaim.processor.service.redrive;

/** Where a redrive stands with one dead letter that it has read. */
sealed interface LetterState {
  /** Its record was freed and published again, and what becomes of it is not known yet. */
  record UnderWay() implements LetterState {}

  /** What became of the letter is known, and is counted. */
  sealed interface Final extends LetterState {}

  /** Its record was moved, and is done. */
  record Completed() implements Final {}

  /** Its record was moved, and was given up again. */
  record DiedAgain(String cause) implements Final {}

  /** Its record was moved, and nobody knows what became of it. */
  record Open() implements Final {}

  /** Its record cannot be published, however often it is tried, and is dead as it was. */
  record Unpublishable(String why) implements Final {}

  /** It was passed over. */
  record Skipped(String why) implements Final {}

  /** Whether its record was freed and published again. */
  default boolean isMoved() {
    return switch (this) {
      case UnderWay _, Completed _, DiedAgain _, Open _ -> true;
      case Unpublishable _, Skipped _ -> false;
    };
  }
}
