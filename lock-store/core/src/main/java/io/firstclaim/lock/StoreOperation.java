package io.firstclaim.lock;

import java.util.Locale;

/** What a request to a store is for. */
public enum StoreOperation {
  /** To own a record. */
  CLAIM,
  /** To keep a lease for longer. */
  RENEW,
  /** To end a record as done. */
  COMPLETE,
  /** To give a record back, or to free what somebody holds. */
  RELEASE,
  /** To end a record as dead. */
  BURY,
  /** To free a dead record for another round of attempts, or to undo that. */
  REDRIVE,
  /** Any read of a claim, even one to learn why a write was refused. */
  FIND,
  /** To list claims, for a sweeper. */
  LIST,
  /** To take a claim that a sweeper is about to delete. */
  RETIRE,
  /** To delete a claim, for a sweeper. */
  DELETE,
  /** To ask what a table can do. */
  DESCRIBE,
  /** Part of a conformance check. */
  TRY;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** Its name in metrics and messages, such as {@code claim}. */
  public String label() {
    return label;
  }

  /** The same as {@link #label()}. */
  @Override
  public String toString() {
    return label;
  }

  /** How a request ended. */
  public enum Result {
    /** It did what it was to do; a read may have found nothing. */
    OK,
    /** Its condition failed. */
    REFUSED,
    /** There was no answer, or one that says nothing of what is stored. */
    ERROR;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** Its name in metrics, such as {@code ok}. */
    public String label() {
      return label;
    }
  }
}
