package io.firstclaim.processor.service.config;

import java.util.Locale;
import java.util.regex.Pattern;

/** Which values of settings are shown to nobody. */
final class Secrets {
  private static final Pattern SECRET =
      Pattern.compile("password|passwd|jaas|secret|token|credential|(^|[._-])key([._-]|$)");
  private static final Pattern USER_INFO = Pattern.compile("//[^/?#]*@");

  private Secrets() {}

  /** The value, or a word for it if it is secret by its property's name or has a password in it. */
  static String shown(String property, String value) {
    if (property.startsWith("kafka.")
        && SECRET.matcher(property.toLowerCase(Locale.ROOT)).find()) {
      return "(hidden)";
    }
    return USER_INFO.matcher(value).find() ? "(hidden: it may have a password)" : value;
  }
}
