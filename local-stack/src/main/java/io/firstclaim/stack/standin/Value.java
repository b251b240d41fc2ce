package io.firstclaim.stack.standin;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The value of an attribute. Immutable. */
sealed interface Value {
  record Text(String value) implements Value {}

  /** Equal to any other way of writing the same number. */
  record Decimal(BigDecimal value) implements Value {
    @Override
    public boolean equals(Object other) {
      return other instanceof Decimal(BigDecimal number) && value.compareTo(number) == 0;
    }

    @Override
    public int hashCode() {
      return value.stripTrailingZeros().hashCode();
    }
  }

  /** Bytes in Base64, left as they came. */
  record Bytes(String base64) implements Value {}

  record Bool(boolean value) implements Value {}

  /** A value that says that there is none. */
  record Null() implements Value {}

  /** A set of texts. */
  record Texts(Set<String> values) implements Value {}

  /** A list. */
  record Elements(List<Value> values) implements Value {}

  /** Values by their names. */
  record Fields(Map<String, Value> values) implements Value {}

  /** The digits that a number may have. */
  int MOST_DIGITS = 38;

  /** What a list or a map takes beside its values, in bytes, each of which takes one more. */
  int OF_A_COLLECTION = 3;

  static Value read(JsonNode node) {
    if (node.size() != 1) {
      throw Refusal.invalid("Supplied AttributeValue has more than one datatypes set, or none");
    }
    Map.Entry<String, JsonNode> only = node.properties().iterator().next();
    JsonNode value = only.getValue();
    return switch (only.getKey()) {
      case "S" -> new Text(value.textValue());
      case "N" -> number(value.textValue());
      case "B" -> new Bytes(value.textValue());
      case "BOOL" -> new Bool(value.booleanValue());
      case "NULL" -> new Null();
      case "SS" -> {
        Set<String> texts = new LinkedHashSet<>();
        value.forEach(each -> texts.add(each.textValue()));
        if (texts.isEmpty() || texts.size() != value.size()) {
          throw Refusal.invalid("An string set may not be empty, nor have duplicates");
        }
        yield new Texts(texts);
      }
      case "L" -> {
        List<Value> values = new ArrayList<>();
        value.forEach(each -> values.add(read(each)));
        yield new Elements(values);
      }
      case "M" -> new Fields(readItem(value));
      default -> throw Refusal.unknown("values of type " + only.getKey());
    };
  }

  private static Decimal number(String text) {
    try {
      BigDecimal number = new BigDecimal(text);
      if (number.precision() > MOST_DIGITS) {
        throw Refusal.invalid("Attempting to store more than 38 significant digits in a Number");
      }
      return new Decimal(number);
    } catch (NumberFormatException _) {
      throw Refusal.invalid("The parameter cannot be converted to a numeric value: " + text);
    }
  }

  static Map<String, Value> readItem(JsonNode node) {
    Map<String, Value> item = HashMap.newHashMap(node.size());
    for (Map.Entry<String, JsonNode> attribute : node.properties()) {
      item.put(attribute.getKey(), read(attribute.getValue()));
    }
    return item;
  }

  /** Writes it as the value of a field that is named already. */
  default void write(JsonGenerator json) throws IOException {
    json.writeStartObject();
    switch (this) {
      case Text(String text) -> json.writeStringField("S", text);
      case Decimal(BigDecimal number) ->
          json.writeStringField(
              "N", (number.scale() > 0 ? number.stripTrailingZeros() : number).toPlainString());
      case Bytes(String base64) -> json.writeStringField("B", base64);
      case Bool(boolean bool) -> json.writeBooleanField("BOOL", bool);
      case Null() -> json.writeBooleanField("NULL", true);
      case Texts(Set<String> texts) -> {
        json.writeArrayFieldStart("SS");
        for (String text : texts) {
          json.writeString(text);
        }
        json.writeEndArray();
      }
      case Elements(List<Value> values) -> {
        json.writeArrayFieldStart("L");
        for (Value each : values) {
          each.write(json);
        }
        json.writeEndArray();
      }
      case Fields(Map<String, Value> values) -> {
        json.writeFieldName("M");
        writeItem(json, values);
      }
    }
    json.writeEndObject();
  }

  static void writeItem(JsonGenerator json, Map<String, Value> item) throws IOException {
    json.writeStartObject();
    for (Map.Entry<String, Value> attribute : item.entrySet()) {
      json.writeFieldName(attribute.getKey());
      attribute.getValue().write(json);
    }
    json.writeEndObject();
  }

  /** Its text, number, or bytes in Base64; of anything else, what it looks like. */
  default String text() {
    return switch (this) {
      case Text(String text) -> text;
      case Decimal(BigDecimal number) -> number.toPlainString();
      case Bytes(String base64) -> base64;
      case Bool _, Null _, Texts _, Elements _, Fields _ -> toString();
    };
  }

  /** The letter by which DynamoDB names the value's type. */
  default String type() {
    return switch (this) {
      case Text _ -> "S";
      case Decimal _ -> "N";
      case Bytes _ -> "B";
      case Bool _ -> "BOOL";
      case Null _ -> "NULL";
      case Texts _ -> "SS";
      case Elements _ -> "L";
      case Fields _ -> "M";
    };
  }

  /** The size of a value in bytes, as DynamoDB counts an item's. */
  default int size() {
    return switch (this) {
      case Text(String text) -> bytes(text);
      case Decimal(BigDecimal number) -> number.precision() / 2 + 2;
      case Bytes(String base64) -> base64.length() / 4 * 3;
      case Bool _, Null _ -> 1;
      case Texts(Set<String> texts) -> texts.stream().mapToInt(Value::bytes).sum();
      case Elements(List<Value> values) ->
          OF_A_COLLECTION + values.stream().mapToInt(each -> each.size() + 1).sum();
      case Fields(Map<String, Value> values) ->
          OF_A_COLLECTION
              + values.entrySet().stream()
                  .mapToInt(each -> bytes(each.getKey()) + each.getValue().size() + 1)
                  .sum();
    };
  }

  /** The bytes of a text. */
  static int bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }
}
