package io.firstclaim.spring.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Has Spring Boot report a refused start without its stack trace, with the remedy. */
final class StartRefusedAnalyzer extends AbstractFailureAnalyzer<StartRefusedException> {
  @Override
  protected FailureAnalysis analyze(Throwable root, StartRefusedException cause) {
    return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.remedy(), cause);
  }
}
