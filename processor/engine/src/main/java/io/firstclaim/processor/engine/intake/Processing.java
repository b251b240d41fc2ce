package io.firstclaim.processor.engine.intake;

/**
 * What becomes of the records that the poll loop takes in. Thread-safe; its methods do not block.
 */
public interface Processing {
  /** Begins with a record whose turn it is. */
  void begin(Delivery delivery);

  /** This partition was lost: its records that wait are left to whoever has it next. */
  void leave(AssignedPartition partition);

  /** The engine stops: all records that wait are left. */
  void leaveAll();

  /** The engine has waited long enough for its handlers: they are interrupted. */
  void interruptAll();
}
