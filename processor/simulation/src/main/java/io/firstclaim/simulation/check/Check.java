package io.firstclaim.simulation.check;

/** Sees everything in its order, and says what must not have happened. */
interface Check {
  /** The number in docs/protocol.md. */
  int invariant();

  /** Something has happened. */
  void see(Event event, Violations violations);

  /** Where violations are told. */
  @FunctionalInterface
  interface Violations {
    /** One line for people. */
    void tell(String what);
  }
}
