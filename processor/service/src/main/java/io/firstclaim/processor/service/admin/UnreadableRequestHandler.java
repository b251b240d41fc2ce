package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import io.micronaut.context.annotation.Replaces;
import io.micronaut.core.convert.exceptions.ConversionErrorException;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.server.exceptions.ConversionErrorHandler;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Says of a request whose body or parameters cannot be read which field is wrong, what it has, and
 * what would be right.
 */
@Singleton
@Replaces(ConversionErrorHandler.class)
final class UnreadableRequestHandler
    implements ExceptionHandler<ConversionErrorException, HttpResponse<?>> {
  /** What messages say is right as a body. */
  static final String OBJECT = "give an object such as {\"reason\":\"fixed in 1.4\"}";

  @Override
  @SuppressWarnings("rawtypes") // the interface has the raw type
  public HttpResponse<?> handle(HttpRequest request, ConversionErrorException fault) {
    return HttpResponse.badRequest(ErrorBodies.error(message(fault)));
  }

  private static String message(ConversionErrorException fault) {
    @Nullable Throwable cause = fault.getConversionError().getCause();
    while (cause != null && !(cause instanceof JacksonException)) {
      cause = cause.getCause();
    }
    return cause instanceof JacksonException json
        ? message(json)
        : Problem.message(
            fault.getArgument().getName(),
            fault.getConversionError().getOriginalValue().orElse(null),
            remedy(fault.getArgument().getType()));
  }

  static String message(JacksonException fault) {
    return switch (fault) {
      case UnrecognizedPropertyException unknown ->
          "there is no field %s; there are %s"
              .formatted(
                  unknown.getPropertyName(),
                  unknown.getKnownPropertyIds().stream()
                      .map(String::valueOf)
                      .sorted()
                      .collect(Collectors.joining(", ")));
      case MismatchedInputException wrong ->
          Problem.message(field(wrong), given(wrong), remedy(wrong.getTargetType()));
      case JsonMappingException wrong
          when wrong.getCause() instanceof InputCoercionException number ->
          Problem.message(field(wrong), null, remedy(number.getTargetType()));
      default -> "the body: " + OBJECT;
    };
  }

  /** What the field has; null if it is no scalar. */
  private static @Nullable Object given(MismatchedInputException fault) {
    if (fault instanceof InvalidFormatException scalar) {
      return scalar.getValue();
    }
    try {
      return fault.getProcessor() instanceof JsonParser parser
              && parser.hasToken(JsonToken.VALUE_STRING)
          ? parser.getText()
          : null;
    } catch (IOException e) {
      return null;
    }
  }

  private static String field(JsonMappingException fault) {
    List<JsonMappingException.Reference> path = fault.getPath();
    return path.isEmpty() ? "the body" : String.valueOf(path.getLast().getFieldName());
  }

  private static String remedy(@Nullable Class<?> type) {
    if (type == String.class) {
      return "give a text";
    }
    if (type == Boolean.class) {
      return "give true or false";
    }
    return type == Integer.class || type == int.class ? "give a whole number" : OBJECT;
  }
}
