package io.firstclaim.processor.service.instance;

import io.firstclaim.processor.engine.EngineBuilder;
import io.firstclaim.processor.handler.RecordHandler;

/**
 * The handler that the settings choose.
 *
 * @param handler what processes the records
 * @param isOurs whether it is one of the service's own, which only wait and never compute for long
 */
record ChosenHandler(RecordHandler handler, boolean isOurs) {
  static ChosenHandler ours(RecordHandler handler) {
    return new ChosenHandler(handler, true);
  }

  static ChosenHandler users(RecordHandler handler) {
    return new ChosenHandler(handler, false);
  }

  /** Has an engine process records with it, on the kind of threads that suits it. */
  EngineBuilder giveTo(EngineBuilder engine) {
    return isOurs ? engine.waitingHandler(handler) : engine.handler(handler);
  }
}
