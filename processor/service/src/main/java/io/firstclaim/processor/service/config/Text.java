package io.firstclaim.processor.service.config;

import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.api.ResourceSource;
import io.micronaut.core.convert.ConversionService;
import io.micronaut.core.type.Argument;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The text of a setting, read as the type that the setting has. */
final class Text {
  static final String DURATION = "give a duration such as 500ms, 30s, 5m, 12h or 8d";
  static final String COUNT = "give a number from 1 to 1000000";

  /** A longer one overflows somewhere, and nobody means it. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private static final Pattern MEGABYTES = Pattern.compile("([1-9]\\d{0,3})MB");

  private Text() {}

  /** A duration, or {@code auto} for none that is set. */
  record HeadStart(Optional<Duration> set) {
    private static HeadStart parse(String text) {
      return new HeadStart(text.equals("auto") ? Optional.empty() : Optional.of(duration(text)));
    }
  }

  /** A size in bytes, written in megabytes. */
  record Size(int bytes) {
    static final String REMEDY = "give a size from 5MB to 1024MB, such as 8MB";

    /** S3 takes no smaller part except the last; no Kafka record is larger than the most. */
    private static final int LEAST_MB = 5;

    private static final int MOST_MB = 1024;

    private static Size parse(String text) {
      Matcher size = MEGABYTES.matcher(text);
      int megabytes = size.matches() ? Integer.parseInt(size.group(1)) : 0;
      if (megabytes < LEAST_MB || megabytes > MOST_MB) {
        throw new IllegalArgumentException(REMEDY);
      }
      return new Size(megabytes << 20);
    }
  }

  /** An amount of memory, written in megabytes. */
  record Memory(long bytes) {
    private static final Pattern TEXT = Pattern.compile("([1-9]\\d{0,5})MB");

    private static Memory parse(String text) {
      Matcher memory = TEXT.matcher(text);
      if (!memory.matches()) {
        throw new IllegalArgumentException("give a size from 1MB to 999999MB, such as 64MB");
      }
      return new Memory(Long.parseLong(memory.group(1)) << 20);
    }

    /** As it is written, in whole megabytes. */
    static String text(long bytes) {
      return (bytes >> 20) + "MB";
    }
  }

  /**
   * The value.
   *
   * @throws IllegalArgumentException if the text is not one; the message says what would be right
   */
  static Object parse(String text, Argument<?> as) {
    Class<?> type = as.getType();
    if (type == List.class) {
      return listOf(as.getFirstTypeVariable().map(Argument::getType).orElse(null), text);
    }
    if (type == Duration.class) {
      return duration(text);
    }
    if (type == int.class) {
      return count(text);
    }
    if (type == boolean.class) {
      return flag(text);
    }
    if (type == URI.class) {
      return url(text);
    }
    if (type == HeadStart.class) {
      return HeadStart.parse(text);
    }
    if (type == Size.class) {
      return Size.parse(text);
    }
    if (type == Memory.class) {
      return Memory.parse(text);
    }
    return type.isEnum() ? choice(text, type) : text;
  }

  /** A stand-in for a required value that is missing; nobody gets to see it. */
  static Object nothing(Argument<?> as) {
    if (as.getType() == List.class) {
      return List.of();
    }
    return as.getType() == URI.class ? URI.create("") : "";
  }

  private static List<?> listOf(@Nullable Class<?> type, String text) {
    if (type == RecordIdSource.class) {
      return RecordIdSource.parseList(text);
    }
    return type == ResourceSource.class ? ResourceSource.parseList(text) : list(text);
  }

  private static List<String> list(String text) {
    return Arrays.stream(text.split(","))
        .map(String::strip)
        .filter(entry -> !entry.isEmpty())
        .toList();
  }

  private static Duration duration(String text) {
    return ConversionService.SHARED
        .convert(text, Duration.class)
        .filter(duration -> !duration.isNegative() && duration.compareTo(LONGEST) <= 0)
        .orElseThrow(() -> new IllegalArgumentException(DURATION));
  }

  private static int count(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(COUNT, e);
    }
  }

  private static boolean flag(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("give true or false");
    };
  }

  private static URI url(String text) {
    try {
      return URI.create(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "give an http or https URL, such as http://127.0.0.1:8000/records", e);
    }
  }

  private static Object choice(String text, Class<?> type) {
    return Stream.of(type.getEnumConstants())
        .filter(choice -> name(choice).equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "give one of "
                        + Stream.of(type.getEnumConstants())
                            .map(Text::name)
                            .collect(Collectors.joining(", "))));
  }

  private static String name(Object choice) {
    return ((Enum<?>) choice).name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
