package io.firstclaim.templates;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A right of IAM: an action on a resource.
 *
 * @param resource its ARN, in a policy with {@code *} for anything
 */
record Right(String action, String resource) implements Comparable<Right> {
  /** What the role of a template may do, which is worked out. */
  static Set<Right> of(Template role) {
    Set<Right> rights = new LinkedHashSet<>();
    for (JsonNode policy : role.only("AWS::IAM::Role").at("/Properties/Policies")) {
      for (JsonNode statement : policy.at("/PolicyDocument/Statement")) {
        if (!statement.path("Effect").asText().equals("Allow") || statement.has("Condition")) {
          throw new IllegalArgumentException("not understood here: " + statement);
        }
        for (String action : texts(statement.path("Action"))) {
          for (String resource : texts(statement.path("Resource"))) {
            rights.add(new Right(action, resource));
          }
        }
      }
    }
    return rights;
  }

  /** What may be written without brackets if it is only one. */
  static List<String> texts(JsonNode value) {
    List<String> texts = new ArrayList<>();
    if (value.isArray()) {
      value.forEach(each -> texts.add(each.asText()));
    } else {
      texts.add(value.asText());
    }
    return texts;
  }

  /** Whether it allows another one. */
  boolean covers(Right sent) {
    String pattern = Pattern.quote(resource).replace("*", "\\E.*\\Q");
    return action.equals(sent.action) && sent.resource.matches(pattern);
  }

  @Override
  public int compareTo(Right other) {
    return toString().compareTo(other.toString());
  }

  @Override
  public String toString() {
    return action + " on " + resource;
  }
}
