package io.firstclaim.stack.standin;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.firstclaim.stack.standin.Tables.Table;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** What can be asked about tables as such. Thread-safe. */
record TableOperations(Tables tables, Items items) {
  private static final String ON_DEMAND = "PAY_PER_REQUEST";

  void answer(String operation, JsonNode asked, JsonGenerator json) throws IOException {
    switch (operation) {
      case "CreateTable" -> createTable(asked, json);
      case "DescribeTable" -> describe(table(asked), "Table", json);
      case "DeleteTable" -> deleteTable(table(asked), json);
      case "ListTables" -> listTables(json);
      case "UpdateTimeToLive" -> updateTimeToLive(asked);
      case "DescribeTimeToLive" -> describeTimeToLive(table(asked), json);
      case "DescribeGlobalTable" ->
          throw Refusal.of("GlobalTableNotFoundException", "There are no global tables");
      default -> throw Refusal.of("UnknownOperationException", "Unknown operation " + operation);
    }
  }

  private Table table(JsonNode asked) {
    return tables.get(asked.path("TableName").asText());
  }

  private void createTable(JsonNode asked, JsonGenerator json) throws IOException {
    if (!asked.path("BillingMode").asText().equals(ON_DEMAND)) {
      throw Refusal.unknown("tables that are not on demand");
    }
    Map<String, String> types = new HashMap<>();
    for (JsonNode each : asked.path("AttributeDefinitions")) {
      types.put(each.path("AttributeName").asText(), each.path("AttributeType").asText());
    }
    Map<String, String> keys = new LinkedHashMap<>();
    for (JsonNode each : asked.path("KeySchema")) {
      String name = each.path("AttributeName").asText();
      keys.put(name, types.getOrDefault(name, "S"));
    }
    Table table = new Table(asked.path("TableName").asText(), keys, null);
    tables.create(table);
    describe(table, "TableDescription", json);
  }

  private void deleteTable(Table table, JsonGenerator json) throws IOException {
    tables.delete(table);
    items.drop(table.name());
    describe(table, "TableDescription", json);
  }

  private static void describe(Table table, String field, JsonGenerator json) throws IOException {
    json.writeObjectFieldStart(field);
    json.writeStringField("TableName", table.name());
    json.writeStringField("TableStatus", "ACTIVE");
    json.writeStringField("TableArn", "arn:aws:dynamodb:local:000000000000:table/" + table.name());
    json.writeObjectFieldStart("BillingModeSummary");
    json.writeStringField("BillingMode", ON_DEMAND);
    json.writeEndObject();
    json.writeArrayFieldStart("AttributeDefinitions");
    for (Map.Entry<String, String> key : table.keys().entrySet()) {
      json.writeStartObject();
      json.writeStringField("AttributeName", key.getKey());
      json.writeStringField("AttributeType", key.getValue());
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeArrayFieldStart("KeySchema");
    String type = "HASH";
    for (String name : table.keys().keySet()) {
      json.writeStartObject();
      json.writeStringField("AttributeName", name);
      json.writeStringField("KeyType", type);
      json.writeEndObject();
      type = "RANGE";
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private void listTables(JsonGenerator json) throws IOException {
    json.writeArrayFieldStart("TableNames");
    for (String name : tables.names()) {
      json.writeString(name);
    }
    json.writeEndArray();
  }

  private void updateTimeToLive(JsonNode asked) {
    JsonNode wanted = asked.path("TimeToLiveSpecification");
    if (!wanted.path("Enabled").asBoolean()) {
      throw Refusal.unknown("how to disable TTL");
    }
    tables.enableTimeToLive(table(asked), wanted.path("AttributeName").asText());
  }

  private static void describeTimeToLive(Table table, JsonGenerator json) throws IOException {
    json.writeObjectFieldStart("TimeToLiveDescription");
    json.writeStringField("TimeToLiveStatus", table.ttl() == null ? "DISABLED" : "ENABLED");
    if (table.ttl() != null) {
      json.writeStringField("AttributeName", table.ttl());
    }
    json.writeEndObject();
  }
}
