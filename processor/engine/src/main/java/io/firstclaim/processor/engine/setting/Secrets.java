package io.firstclaim.processor.engine.setting;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Says of which settings nobody gets to see the value. */
public final class Secrets {
  private static final Pattern SECRET =
      Pattern.compile("passw|jaas|secret|token|credential|user.?info");

  /** These settings name a file that holds a secret, and are none themselves. */
  private static final Set<String> FILES =
      Set.of("firstclaim.admin.token-file", "firstclaim.audit.token-file");

  /** A key in the settings of Kafka's clients is a secret; elsewhere it is a record's. */
  private static final Pattern KEY = Pattern.compile("kafka[._].*[._]key([._]|$)");

  private static final Pattern USER_INFO = Pattern.compile("//[^/?#]*@");

  /** What follows a place on the web, such as a key in a query. */
  private static final Pattern QUERY = Pattern.compile("(?s)(://[^?#]*[?#]).*");

  private Secrets() {}

  /**
   * The value, or a stand-in if its property's name makes it a secret or it has a password in it;
   * of an address, without its query.
   */
  public static String shown(String property, String value) {
    if (FILES.contains(property)) {
      return value;
    }
    String name = property.toLowerCase(Locale.ROOT);
    if (SECRET.matcher(name).find() || KEY.matcher(name).find()) {
      return "(hidden)";
    }
    return USER_INFO.matcher(value).find()
        ? "(hidden: it may have a password)"
        : QUERY.matcher(value).replaceFirst("$1(hidden)");
  }
}
