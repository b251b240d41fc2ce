package io.firstclaim.processor.engine.flow;

/** Why a record that waited goes on. */
enum Woken {
  /** Its end was announced. */
  ITS_END,
  /**
   * Something was heard, after which it has to look again: an end under its ID that does not count
   * for it, a retry that is due, a resource that is free, or that it is its turn.
   */
  SIGNALLED,
  /** The partition was lost, or the engine stops. */
  STOP,
  /** It has waited long enough: a lease, a head start or a pause is over. */
  TIME_UP
}
