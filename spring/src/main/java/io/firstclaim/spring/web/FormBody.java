package io.firstclaim.spring.web;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.servlet.http.HttpServletRequest;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * The body of a form that was read as parameters, written anew: to those who read it, it means what
 * the one that was sent meant.
 */
final class FormBody {
  private FormBody() {}

  /** The parameters that are not the query's, whose values come first. */
  static byte[] of(HttpServletRequest request) {
    Map<String, Integer> ofQuery = numbers(request.getQueryString());
    Charset charset = charset(request.getCharacterEncoding());
    StringJoiner form = new StringJoiner("&");
    request
        .getParameterMap()
        .forEach(
            (name, values) ->
                Arrays.stream(values)
                    .skip(ofQuery.getOrDefault(name, 0))
                    .forEach(value -> form.add(pair(name, value, charset))));
    return form.toString().getBytes(charset);
  }

  /** How many values each parameter of a query has. */
  private static Map<String, Integer> numbers(@Nullable String query) {
    Map<String, Integer> numbers = new HashMap<>();
    if (query != null) {
      for (String pair : query.split("&", -1)) {
        name(pair).ifPresent(name -> numbers.merge(name, 1, Integer::sum));
      }
    }
    return numbers;
  }

  /** Empty if the pair cannot be decoded: the container passes over such a one. */
  private static Optional<String> name(String pair) {
    String[] parts = pair.split("=", 2);
    try {
      for (String part : parts) {
        String unused = URLDecoder.decode(part, UTF_8);
      }
      return Optional.of(URLDecoder.decode(parts[0], UTF_8));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static Charset charset(@Nullable String name) {
    return name == null ? UTF_8 : Charset.forName(name, UTF_8);
  }

  private static String pair(String name, @Nullable String value, Charset charset) {
    String encoded = URLEncoder.encode(name, charset);
    return value == null ? encoded : encoded + "=" + URLEncoder.encode(value, charset);
  }
}
