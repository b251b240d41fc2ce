package io.firstclaim.stack.standin;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.stack.standin.DynamoDbInMemory.WriteListener;
import io.firstclaim.stack.standin.Items.Change;
import io.firstclaim.stack.standin.Items.Place;
import io.firstclaim.stack.standin.Items.Write;
import io.firstclaim.stack.standin.Operand.Values;
import io.firstclaim.stack.standin.Tables.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What can be asked, by its name and its JSON. Thread-safe. */
final class Operations {
  private static final int MOST_STATEMENTS = 25;
  private static final int MOST_ACTIONS = 100;
  private static final int MOST_TO_GET = 100;

  private static final Set<String> OF_A_STATEMENT = Set.of("Statement", "Parameters");
  private static final Set<String> OF_A_WRITE =
      Set.of(
          "TableName",
          "Key",
          "Item",
          "ConditionExpression",
          "UpdateExpression",
          "ExpressionAttributeValues",
          "ReturnValues",
          "ReturnValuesOnConditionCheckFailure");

  private static final Set<String> OF_A_SCAN =
      Set.of(
          "TableName",
          "ConsistentRead",
          "Segment",
          "TotalSegments",
          "ExclusiveStartKey",
          "Limit",
          "FilterExpression",
          "ProjectionExpression",
          "ExpressionAttributeValues");

  private final ObjectMapper mapper;
  private final Tables tables = new Tables();
  private final Items items;
  private final TableOperations ofTables;
  private final Repetitions repetitions = new Repetitions();

  /** Expressions and statements come again and again, and are read once. */
  private final Map<String, Read<Condition>> conditions = new ConcurrentHashMap<>();

  private final Map<String, Read<Update>> updates = new ConcurrentHashMap<>();
  private final Map<String, Statement> statements = new ConcurrentHashMap<>();

  /** An expression, and the names of the values that it uses. */
  private record Read<E>(E expression, Set<String> used) {
    static Read<Condition> condition(String text) {
      Set<String> used = new HashSet<>();
      Tokens tokens = new Tokens(text);
      Condition condition = Condition.read(tokens, used);
      if (!tokens.isOver()) {
        throw tokens.unknown();
      }
      return new Read<>(condition, used);
    }

    static Read<Update> update(String text) {
      Set<String> used = new HashSet<>();
      return new Read<>(Update.read(new Tokens(text), used), used);
    }
  }

  Operations(ObjectMapper mapper, @Nullable WriteListener listener) {
    this.mapper = mapper;
    this.items = new Items(listener);
    this.ofTables = new TableOperations(tables, items);
  }

  /**
   * Answers a request.
   *
   * @throws Refusal if it is refused
   */
  void answer(String operation, byte[] request, JsonGenerator json) throws IOException {
    JsonNode asked = mapper.readTree(request);
    json.writeStartObject();
    switch (operation) {
      case "BatchExecuteStatement" -> batchExecuteStatement(asked, json);
      case "PutItem", "UpdateItem", "DeleteItem" -> write(asked, json, operation);
      case "GetItem" -> getItem(asked, json);
      case "BatchGetItem" -> batchGetItem(asked, json);
      case "TransactWriteItems" -> transactWriteItems(asked);
      case "Scan" -> scan(asked, json);
      default -> ofTables.answer(operation, asked, json);
    }
    json.writeEndObject();
  }

  private Table table(JsonNode asked) {
    return tables.get(asked.path("TableName").asText());
  }

  // Statements

  private void batchExecuteStatement(JsonNode asked, JsonGenerator json) throws IOException {
    requireKnown(asked, Set.of("Statements"));
    JsonNode all = asked.path("Statements");
    if (all.isEmpty() || all.size() > MOST_STATEMENTS) {
      throw Refusal.invalid("A batch has 1 to %d statements".formatted(MOST_STATEMENTS));
    }
    json.writeArrayFieldStart("Responses");
    for (JsonNode each : all) {
      json.writeStartObject();
      try {
        Statement statement = statement(each);
        json.writeStringField("TableName", statement.table());
        execute(statement, values(each, statement));
      } catch (Refusal e) {
        json.writeObjectFieldStart("Error");
        json.writeStringField("Code", e.code());
        json.writeStringField("Message", e.text());
        json.writeEndObject();
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private Statement statement(JsonNode asked) {
    requireKnown(asked, OF_A_STATEMENT);
    return statements.computeIfAbsent(asked.path("Statement").asText(), Statement::read);
  }

  private static Values values(JsonNode asked, Statement statement) {
    List<Value> parameters = new ArrayList<>();
    asked.path("Parameters").forEach(each -> parameters.add(Value.read(each)));
    if (parameters.size() != statement.parameters()) {
      throw Refusal.invalid("Number of parameters in request and statement don't match.");
    }
    return new Values(Map.of(), parameters);
  }

  private void execute(Statement statement, Values values) {
    Table table = tables.get(statement.table());
    switch (statement) {
      case Statement.Insert(String _, int _, Map<String, Operand> attributes) -> {
        Map<String, Value> item = all(attributes, values);
        Place place = new Place(table.name(), table.keyOf(item));
        try {
          var _ =
              items.write(new Write(place, new Change.Put(item), isAbsent(table), values, false));
        } catch (Refusal e) {
          throw e.code().equals("ConditionalCheckFailed")
              ? Refusal.of("DuplicateItemException", "Duplicate primary key exists in table")
              : e;
        }
      }
      case Statement.Change change -> {
        Map<String, Operand> parts = new LinkedHashMap<>();
        for (String name : table.keys().keySet()) {
          parts.put(
              name,
              Statement.keyOf(change, name)
                  .orElseThrow(
                      () ->
                          Refusal.invalid(
                              "Where clause does not contain a mandatory equality on all key"
                                  + " attributes")));
        }
        requireNoKey(table, change.update());
        Place place = new Place(table.name(), table.keyOf(all(parts, values)));
        var _ =
            items.write(
                new Write(
                    place, new Change.Updated(change.update()), change.where(), values, false));
      }
    }
  }

  private static Map<String, Value> all(Map<String, Operand> operands, Values values) {
    Map<String, Value> all = HashMap.newHashMap(operands.size());
    for (Map.Entry<String, Operand> each : operands.entrySet()) {
      Value value = each.getValue().of(Map.of(), values);
      if (value == null) {
        throw Refusal.unknown("what to write to " + each.getKey());
      }
      all.put(each.getKey(), value);
    }
    return all;
  }

  private static Condition isAbsent(Table table) {
    return new Condition.Not(new Condition.Exists(table.keys().keySet().iterator().next()));
  }

  // Single writes

  private void write(JsonNode asked, JsonGenerator json, String operation) throws IOException {
    Write write = read(asked, operation);
    Map<String, Value> before = items.write(write);
    switch (asked.path("ReturnValues").asText("NONE")) {
      case "NONE" -> {}
      case "ALL_OLD" -> {
        if (!before.isEmpty()) {
          json.writeFieldName("Attributes");
          Value.writeItem(json, before);
        }
      }
      case String other -> throw Refusal.unknown("ReturnValues " + other);
    }
  }

  /** A write, alone or in a transaction. */
  private Write read(JsonNode asked, String operation) {
    requireKnown(asked, OF_A_WRITE);
    Table table = table(asked);
    Read<Condition> condition = condition(asked, "ConditionExpression");
    Optional<Read<Update>> update =
        text(asked, "UpdateExpression").map(text -> updates.computeIfAbsent(text, Read::update));
    Values values = named(asked, condition, update);
    boolean told = asked.path("ReturnValuesOnConditionCheckFailure").asText().equals("ALL_OLD");
    Map<String, Value> given =
        Value.readItem(asked.path(operation.equals("PutItem") ? "Item" : "Key"));
    Change change =
        switch (operation) {
          case "PutItem" -> new Change.Put(given);
          case "DeleteItem" -> new Change.Delete();
          case "UpdateItem" ->
              new Change.Updated(
                  update.map(Read::expression).orElseGet(() -> new Update(List.of())));
          case "ConditionCheck" -> new Change.Check();
          default -> throw Refusal.unknown(operation);
        };
    if (change instanceof Change.Updated(Update updated)) {
      requireNoKey(table, updated);
    }
    Map<String, Value> key = change instanceof Change.Put ? table.keyOf(given) : table.key(given);
    return new Write(new Place(table.name(), key), change, condition.expression(), values, told);
  }

  private Read<Condition> condition(JsonNode asked, String name) {
    return text(asked, name)
        .map(text -> conditions.computeIfAbsent(text, Read::condition))
        .orElse(new Read<>(new Condition.Always(), Set.of()));
  }

  private static Values named(
      JsonNode asked, Read<Condition> condition, Optional<Read<Update>> update) {
    Map<String, Value> named = Value.readItem(asked.path("ExpressionAttributeValues"));
    Set<String> used = new HashSet<>(condition.used());
    update.ifPresent(read -> used.addAll(read.used()));
    Values values = named.isEmpty() ? Values.NONE : new Values(named, List.of());
    values.requireExactly(used);
    return values;
  }

  private static void requireNoKey(Table table, Update update) {
    for (String attribute : update.attributes()) {
      if (table.keys().containsKey(attribute)) {
        throw Refusal.invalid(
            "Cannot update attribute %s. This attribute is part of the key".formatted(attribute));
      }
    }
  }

  private static Optional<String> text(JsonNode asked, String name) {
    return Optional.ofNullable(asked.get(name)).map(JsonNode::textValue);
  }

  /** What it does not know would be lost in silence. */
  private static void requireKnown(JsonNode asked, Set<String> names) {
    asked
        .fieldNames()
        .forEachRemaining(
            name -> {
              if (!names.contains(name)) {
                throw Refusal.unknown("the parameter " + name);
              }
            });
  }

  // Transactions

  private void transactWriteItems(JsonNode asked) {
    requireKnown(asked, Set.of("TransactItems", "ClientRequestToken"));
    JsonNode actions = asked.path("TransactItems");
    if (actions.isEmpty() || actions.size() > MOST_ACTIONS) {
      throw Refusal.invalid("A transaction has 1 to %d actions".formatted(MOST_ACTIONS));
    }
    List<Write> writes = new ArrayList<>();
    for (JsonNode action : actions) {
      var only = action.properties().iterator().next();
      String operation =
          only.getKey().equals("ConditionCheck") ? only.getKey() : only.getKey() + "Item";
      writes.add(read(only.getValue(), operation));
    }
    Items.requireDistinct(writes);
    String token = asked.path("ClientRequestToken").textValue();
    if (token == null) {
      throw Refusal.unknown("transactions without a token"); // the SDK makes one
    }
    items.writeAll(
        writes, () -> repetitions.isKnown(token, actions), () -> repetitions.done(token, actions));
  }

  // Reads

  private void getItem(JsonNode asked, JsonGenerator json) throws IOException {
    requireKnown(asked, Set.of("TableName", "Key", "ConsistentRead"));
    Table table = table(asked);
    Map<String, Value> item =
        items.find(new Place(table.name(), table.key(Value.readItem(asked.path("Key")))));
    if (item != null) {
      json.writeFieldName("Item");
      Value.writeItem(json, item);
    }
  }

  private void batchGetItem(JsonNode asked, JsonGenerator json) throws IOException {
    requireKnown(asked, Set.of("RequestItems"));
    int wanted = 0;
    json.writeObjectFieldStart("Responses");
    for (var each : asked.path("RequestItems").properties()) {
      Table table = tables.get(each.getKey());
      requireKnown(each.getValue(), Set.of("Keys", "ConsistentRead"));
      json.writeArrayFieldStart(table.name());
      Set<Map<String, Value>> keys = new HashSet<>();
      for (JsonNode key : each.getValue().path("Keys")) {
        if (!keys.add(table.key(Value.readItem(key)))) {
          throw Refusal.invalid("Provided list of item keys contains duplicates");
        }
      }
      for (Map<String, Value> key : keys) {
        Map<String, Value> item = items.find(new Place(table.name(), key));
        if (item != null) {
          Value.writeItem(json, item);
        }
      }
      json.writeEndArray();
      wanted += keys.size();
    }
    json.writeEndObject();
    if (wanted == 0 || wanted > MOST_TO_GET) {
      throw Refusal.invalid("One gets 1 to %d items at once".formatted(MOST_TO_GET));
    }
    json.writeObjectFieldStart("UnprocessedKeys");
    json.writeEndObject();
  }

  /**
   * A page of a table or of one of its segments, in the order of the keys. Without a limit it is
   * all of that, which DynamoDB cuts at a megabyte.
   */
  private void scan(JsonNode asked, JsonGenerator json) throws IOException {
    requireKnown(asked, OF_A_SCAN);
    Table table = table(asked);
    Read<Condition> filter = condition(asked, "FilterExpression");
    Values values = named(asked, filter, Optional.empty());
    int segment = asked.path("Segment").asInt(0);
    int segments = asked.path("TotalSegments").asInt(1);
    String from =
        asked.has("ExclusiveStartKey")
            ? table.key(Value.readItem(asked.path("ExclusiveStartKey"))).toString()
            : "";
    List<Map<String, Value>> left =
        items.of(table.name()).stream()
            .filter(item -> segmentOf(table.keyOf(item), segments) == segment)
            .filter(item -> table.keyOf(item).toString().compareTo(from) > 0)
            .sorted(Comparator.comparing(item -> table.keyOf(item).toString()))
            .toList();
    List<Map<String, Value>> page =
        left.subList(0, Math.min(left.size(), asked.path("Limit").asInt(left.size())));
    List<Map<String, Value>> found =
        page.stream().filter(item -> filter.expression().holds(item, values)).toList();
    Optional<List<String>> names =
        text(asked, "ProjectionExpression").map(text -> List.of(text.split(", *", -1)));
    json.writeArrayFieldStart("Items");
    for (Map<String, Value> item : found) {
      Map<String, Value> shown = new HashMap<>(item);
      names.ifPresent(shown.keySet()::retainAll);
      Value.writeItem(json, shown);
    }
    json.writeEndArray();
    json.writeNumberField("Count", found.size());
    json.writeNumberField("ScannedCount", page.size());
    if (page.size() < left.size()) {
      json.writeFieldName("LastEvaluatedKey");
      Value.writeItem(json, table.keyOf(page.getLast()));
    }
  }

  private static int segmentOf(Map<String, Value> key, int segments) {
    return Math.floorMod(key.toString().hashCode(), segments);
  }
}
