package example.tables;

/** What a table is open to. */
enum TableStatus {
  /** Anybody may edit it, or one of its children. */
  NORMAL,
  /** Somebody edits it. */
  EDITING,
  /** Somebody edits one of its children. */
  LOCKED
}
