package io.firstclaim.lock.s3;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a policy denies everybody: an action on some keys.
 *
 * @param action with wildcards, in lower case
 * @param resource with wildcards
 * @param conditions all of which hold of what is denied
 */
record PolicyDenial(String action, String resource, Set<Condition> conditions) {
  private static final JsonFactory JSON = new JsonFactory();

  /**
   * Holds if the key has one of the values. All are in lower case.
   *
   * @param operator without {@code ifexists}, with which it is denied more
   */
  record Condition(String operator, String key, Set<String> values) {
    private static Condition of(String operator, String key, Object values) {
      Set<String> each = new HashSet<>();
      texts(values).forEach(value -> each.add(lower(value)));
      return new Condition(lower(operator).replaceFirst("ifexists$", ""), lower(key), each);
    }

    /** Whether this condition holds wherever the other one does. */
    private boolean holdsWhere(Condition other) {
      return operator.equals(other.operator)
          && key.equals(other.key)
          && values.containsAll(other.values);
    }
  }

  /** What is denied by a policy; nothing, if it is none. */
  static List<PolicyDenial> in(String policy) {
    List<PolicyDenial> denials = new ArrayList<>();
    try (JsonParser json = JSON.createParser(policy)) {
      json.nextToken();
      if (value(json) instanceof Map<?, ?> whole) {
        for (Object one : list(whole.get("Statement"))) {
          if (one instanceof Map<?, ?> statement && deniesEverybody(statement)) {
            denials.addAll(of(statement));
          }
        }
      }
      return denials;
    } catch (IOException e) { // the text is no JSON, or cut off
      return List.of();
    }
  }

  private static boolean deniesEverybody(Map<?, ?> statement) {
    Object principal = statement.get("Principal");
    return "Deny".equals(statement.get("Effect"))
        && texts(principal instanceof Map<?, ?> kinds ? kinds.get("AWS") : principal).contains("*");
  }

  private static List<PolicyDenial> of(Map<?, ?> statement) {
    Set<Condition> conditions = new HashSet<>();
    if (statement.get("Condition") instanceof Map<?, ?> operators) {
      operators.forEach(
          (operator, keys) -> {
            if (keys instanceof Map<?, ?> each) {
              each.forEach(
                  (key, values) ->
                      conditions.add(
                          Condition.of(String.valueOf(operator), String.valueOf(key), values)));
            }
          });
    }
    List<PolicyDenial> denials = new ArrayList<>();
    for (String action : texts(statement.get("Action"))) {
      for (String resource : texts(statement.get("Resource"))) {
        denials.add(new PolicyDenial(lower(action), resource, conditions));
      }
    }
    return denials;
  }

  /** A value of JSON: maps, lists and texts of them. */
  private static Object value(JsonParser json) throws IOException {
    if (json.currentToken() == JsonToken.START_OBJECT) {
      Map<String, Object> fields = new HashMap<>();
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        json.nextToken();
        fields.put(name, value(json));
      }
      return fields;
    }
    if (json.currentToken() == JsonToken.START_ARRAY) {
      List<Object> elements = new ArrayList<>();
      while (json.nextToken() != JsonToken.END_ARRAY) {
        elements.add(value(json));
      }
      return elements;
    }
    return String.valueOf(json.getText());
  }

  /** What may be written without brackets if it is only one. */
  private static List<?> list(@Nullable Object value) {
    return value instanceof List<?> several ? several : value == null ? List.of() : List.of(value);
  }

  private static List<String> texts(@Nullable Object value) {
    return list(value).stream().filter(String.class::isInstance).map(String.class::cast).toList();
  }

  private static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  /**
   * Whether it denies all that another one does.
   *
   * @param wanted on keys that begin with something, and no other wildcard
   */
  boolean covers(PolicyDenial wanted) {
    return matches(action, wanted.action)
        && resource.endsWith("*")
        && matches(resource, wanted.resource.substring(0, wanted.resource.length() - 1))
        && conditions.stream()
            .allMatch(each -> wanted.conditions.stream().anyMatch(each::holdsWhere));
  }

  /** Whether a text matches a pattern with the wildcards {@code *} and {@code ?}. */
  private static boolean matches(String pattern, String text) {
    int at = 0;
    int star = -1;
    int after = 0; // how far into the text the last star reaches
    for (int i = 0; i < text.length(); ) {
      char next = at < pattern.length() ? pattern.charAt(at) : '\0';
      if (next == '*') {
        star = at++;
        after = i;
      } else if (at < pattern.length() && (next == '?' || next == text.charAt(i))) {
        at++;
        i++;
      } else if (star >= 0) {
        at = star + 1;
        i = ++after;
      } else {
        return false;
      }
    }
    return pattern.substring(at).chars().allMatch(rest -> rest == '*');
  }
}
