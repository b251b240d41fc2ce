package io.firstclaim.processor.engine.api;

/** What a record that is not under a lease here waits for. */
public enum WaitsFor {
  /** Its preferred zone has a head start. */
  HEAD_START,
  /** Another holder's lease to end. */
  HOLDER,
  /** Its next attempt to be due. */
  RETRY,
  /** Its turn at what it touches, or others to have done with it. */
  RESOURCE,
  /**
   * A permit to be in flight. Its name stays the older one, as the admin API serves it: {@code
   * place}.
   */
  PLACE,
  /** Its turn, as handlers begin at a bounded rate. */
  RATE,
  /** The lock store: to be asked, or to answer. */
  STORE,
  /** The downstream, which is not there. */
  DOWNSTREAM,
  /** Its turn as one whose holders died again and again. */
  SUSPECT,
  /** The announcement of its end, which the store knows. */
  ANNOUNCEMENT,
  /** Another record of its ID, which is worked on here. */
  SAME_ID,
  /** The end of a pause after an unforeseen fault. */
  DEFECT
}
