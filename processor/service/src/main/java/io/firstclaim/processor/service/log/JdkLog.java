package io.firstclaim.processor.service.log;

import org.slf4j.bridge.SLF4JBridgeHandler;

/** What libraries log by the JDK's own logging, as OpenTelemetry's exporters do. */
public final class JdkLog {
  private JdkLog() {}

  /** From now on it goes to the service's log, in its format. */
  public static void join() {
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
  }
}
