package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementError;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;

/**
 * Conditional writes of claims as <a
 * href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html">PartiQL</a>
 * statements. They leave what the single requests of {@link ClaimItems} leave. All names are
 * quoted, as PartiQL reserves more words than DynamoDB does.
 */
final class Statements {
  private static final String EXCEPTION = "Exception";

  /** Attributes that a claim has in some states only. */
  private static final List<String> OPTIONAL =
      List.of(
          Items.HOLDER,
          Items.ON_BEHALF_OF,
          Items.REDRIVE,
          Items.LEASE_MILLIS,
          Items.LEASE_END,
          Items.RETRY_AT,
          Items.ENDED_AT,
          Items.CAUSE,
          Items.RESULT);

  private Statements() {}

  /** Writes an item where none is. */
  static BatchStatementRequest insert(String table, Map<String, AttributeValue> item) {
    StringBuilder text = new StringBuilder(256).append("INSERT INTO \"").append(table);
    List<AttributeValue> values = new ArrayList<>();
    String before = "\" VALUE {'";
    for (Map.Entry<String, AttributeValue> attribute : sorted(item).entrySet()) {
      text.append(before).append(attribute.getKey()).append("':?");
      values.add(attribute.getValue());
      before = ",'";
    }
    return request(text.append('}'), values);
  }

  /** Writes an item of the same key over one that is still the one expected. */
  static BatchStatementRequest update(
      String table, Map<String, AttributeValue> item, ClaimRecord on) {
    StringBuilder text = new StringBuilder(512).append("UPDATE \"").append(table).append('"');
    List<AttributeValue> values = new ArrayList<>();
    for (Map.Entry<String, AttributeValue> attribute : sorted(item).entrySet()) {
      if (!attribute.getKey().equals(Items.KEY)) {
        text.append(" SET \"").append(attribute.getKey()).append("\"=?");
        values.add(attribute.getValue());
      }
    }
    for (String name : OPTIONAL) {
      if (!item.containsKey(name)) {
        text.append(" REMOVE \"").append(name).append('"');
      }
    }
    text.append(" WHERE ");
    equal(text, values, Items.KEY, item.getOrDefault(Items.KEY, Items.text("")));
    equal(text.append(" AND "), values, Items.STATE, Items.kind(on.state()));
    equal(text.append(" AND "), values, Items.TOKEN, Items.number(on.token()));
    equal(text.append(" AND "), values, Items.NONCE, Items.text(on.nonce().toString()));
    return request(text, values);
  }

  /**
   * The code of an error; unknown if the SDK does not know it. Some stores that only look like
   * DynamoDB end their codes in "Exception".
   */
  static BatchStatementErrorCodeEnum code(BatchStatementError error) {
    String code = String.valueOf(error.codeAsString());
    return BatchStatementErrorCodeEnum.fromValue(
        code.endsWith(EXCEPTION) ? code.substring(0, code.length() - EXCEPTION.length()) : code);
  }

  private static void equal(
      StringBuilder text, List<AttributeValue> values, String name, AttributeValue value) {
    text.append('"').append(name).append("\"=?");
    values.add(value);
  }

  /** The attributes in one order, so that the same kind of write is the same text. */
  private static SortedMap<String, AttributeValue> sorted(Map<String, AttributeValue> item) {
    return new TreeMap<>(item);
  }

  private static BatchStatementRequest request(StringBuilder text, List<AttributeValue> values) {
    return BatchStatementRequest.builder().statement(text.toString()).parameters(values).build();
  }
}
