package io.firstclaim.processor.service;

import io.firstclaim.processor.service.cli.Firstclaim;
import io.firstclaim.processor.service.config.LogSettings;
import io.firstclaim.processor.service.instance.ServiceProcess;
import java.util.Map;

/** The application. */
public final class Application {
  private Application() {}

  /** Called by the launcher. */
  public static void main(String[] args) {
    Map<String, String> variables = System.getenv();
    LogSettings.silenceIfWrong(variables);
    if (Firstclaim.keepsLogsOutOfTheOutput(args)) {
      System.setProperty("FIRSTCLAIM_LOG_TARGET", "System.err");
    }
    System.exit(Firstclaim.run(ServiceProcess::run, variables, args));
  }
}
