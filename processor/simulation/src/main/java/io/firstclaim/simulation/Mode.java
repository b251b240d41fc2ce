package io.firstclaim.simulation;

/** What a run is to show. */
enum Mode {
  /** Faults never stop, and nothing must happen that must not. */
  SAFETY,
  /** Faults stop, in a part of the runs with one zone lost for good, and all gets done in time. */
  LIVENESS
}
