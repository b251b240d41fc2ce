package io.firstclaim.processor.engine.flow;

/** Why a record that waited goes on. */
enum Woken {
  /** Its end was announced. */
  ITS_END,
  /**
   * An end was announced under its ID that does not count for it, as it had another payload or is
   * not to be trusted: the store must say.
   */
  ANOTHERS_END,
  /** An attempt was announced to have failed, and the next one is due. */
  RETRY_DUE,
  /** A resource that it waits for was announced to be free. */
  FREED,
  /** It is its turn to ask whether it is admitted. */
  CALLED,
  /** The partition was lost, or the engine stops. */
  STOP,
  /** It has waited long enough: a lease, a head start or a pause is over. */
  TIME_UP
}
