package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.dynamodb.Items.text;
import static io.firstclaim.lock.dynamodb.Items.textOf;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.aws.TranslatedFaults;
import io.firstclaim.lock.document.Document;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.History;
import io.firstclaim.lock.document.WriteResult;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;

/**
 * Documents in a DynamoDB table, one item each, in the same table as claims if you like: their keys
 * never meet. A document has no TTL. An item is at most 400 KB (<a
 * href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html">limits</a>),
 * its history included. One that others put there has its text as {@code documentText}, and no
 * other attribute but the key {@code document/NAME}.
 *
 * <p>The table must be in one Region or strongly consistent across Regions: see {@link
 * DynamoDbTable#verify()}. Thread-safe. The client stays the caller's; no request takes longer than
 * a minute.
 */
public final class DynamoDbDocumentStore implements DocumentStore {
  private static final String PREFIX = "document/";
  private static final String CONTENT = "documentText";
  private static final String VERSION = "documentVersion";
  private static final String HISTORY = "lastWrites";

  /** Begins the version of a document without a history, which is its text. */
  private static final String OF_OTHERS = "text ";

  private static final Set<String> ATTRIBUTES_OF_OTHERS = Set.of(Items.KEY, CONTENT);

  private static final int MAX_ITEM = 400 * 1024;

  private final DynamoDbClient client;
  private final String table;
  private final AwsRequestOverrideConfiguration limits;

  /** Documents in a table that is there. */
  public DynamoDbDocumentStore(DynamoDbClient client, String table) {
    this.client = TranslatedFaults.of(DynamoDbClient.class, client);
    this.table = table;
    this.limits =
        TimeLimits.of(
            client.serviceClientConfiguration().overrideConfiguration(), TimeLimits.DOCUMENT);
  }

  @Override
  public Optional<Document> find(DocumentKey key) {
    GetItemResponse found;
    try {
      found =
          client.getItem(
              get ->
                  get.tableName(table)
                      .key(Map.of(Items.KEY, itemKey(key)))
                      .consistentRead(true)
                      .overrideConfiguration(limits));
    } catch (SdkException e) {
      requireMendable(key, e);
      throw new StoreUnavailableException(
          "DynamoDB table %s did not answer for document %s: %s"
              .formatted(table, key, Faults.inOneLine(e)),
          e);
    }
    return found.hasItem() ? Optional.of(decode(key, found.item())) : Optional.empty();
  }

  @Override
  public WriteResult write(
      DocumentKey key, @Nullable String expected, String content, History history) {
    Map<String, AttributeValue> item =
        Map.of(
            Items.KEY,
            itemKey(key),
            CONTENT,
            text(content),
            VERSION,
            text(history.latest().toString()),
            HISTORY,
            text(history.toString()));
    requireSize(key, item);
    try {
      client.putItem(
          put -> {
            put.tableName(table).item(item).overrideConfiguration(limits);
            if (expected == null) {
              put.conditionExpression("attribute_not_exists(pk)");
            } else {
              put.conditionExpression(condition(expected))
                  .expressionAttributeValues(values(expected));
            }
          });
      return new WriteResult.Written();
    } catch (SdkException e) {
      return failed(key, e);
    }
  }

  @Override
  public WriteResult delete(DocumentKey key, String expected) {
    try {
      client.deleteItem(
          delete ->
              delete
                  .tableName(table)
                  .key(Map.of(Items.KEY, itemKey(key)))
                  .conditionExpression(condition(expected))
                  .expressionAttributeValues(values(expected))
                  .overrideConfiguration(limits));
      return new WriteResult.Written();
    } catch (SdkException e) {
      return failed(key, e);
    }
  }

  private static String condition(String expected) {
    return expected.startsWith(OF_OTHERS)
        ? "attribute_not_exists(%s) AND %s = :expected".formatted(VERSION, CONTENT)
        : VERSION + " = :expected";
  }

  private static Map<String, AttributeValue> values(String expected) {
    String value =
        expected.startsWith(OF_OTHERS) ? expected.substring(OF_OTHERS.length()) : expected;
    return Map.of(":expected", text(value));
  }

  /** What a write that failed is answered with, unless no retry can mend it. */
  private WriteResult failed(DocumentKey key, RuntimeException fault) {
    if (fault instanceof ConditionalCheckFailedException) {
      return Faults.wasSentOnce(fault)
          ? new WriteResult.Differs()
          : new WriteResult.Unknown("the write was repeated and then refused");
    }
    requireMendable(key, fault);
    return new WriteResult.Unknown("DynamoDB did not answer: " + Faults.inOneLine(fault));
  }

  private void requireMendable(DocumentKey key, RuntimeException fault) {
    if (DynamoDbTable.isPermanent(fault)) {
      throw new StoreRefusedException(
          ("DynamoDB refuses document %s in table %s: %s. The table needs the string key %s, the"
                  + " role dynamodb:GetItem and dynamodb:PutItem on it, and to delete"
                  + " dynamodb:DeleteItem")
              .formatted(key, table, Faults.inOneLine(fault), Items.KEY));
    }
  }

  /** Names count as well as values, as the page of limits says. */
  private static void requireSize(DocumentKey key, Map<String, AttributeValue> item) {
    int size = 0;
    for (Map.Entry<String, AttributeValue> attribute : item.entrySet()) {
      size += length(attribute.getKey()) + length(attribute.getValue().s());
    }
    if (size > MAX_ITEM) {
      throw new IllegalArgumentException(
          "document %s would have %,d bytes with its history, and DynamoDB keeps at most %,d: split it, or keep it in S3"
              .formatted(key, size, MAX_ITEM));
    }
  }

  private static int length(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  private Document decode(DocumentKey key, Map<String, AttributeValue> item) {
    try {
      if (item.keySet().equals(ATTRIBUTES_OF_OTHERS)) {
        String text = textOf(item, CONTENT);
        return new Document(text, OF_OTHERS + text, History.NONE);
      }
      return new Document(
          textOf(item, CONTENT), textOf(item, VERSION), History.parse(textOf(item, HISTORY)));
    } catch (IllegalStateException | IllegalArgumentException e) {
      throw new StoreRefusedException(
          "item %s of DynamoDB table %s is not a document: %s. Is the table used by something else?"
              .formatted(itemKey(key).s(), table, e.getMessage()));
    }
  }

  private static AttributeValue itemKey(DocumentKey key) {
    return text(PREFIX + key.value());
  }
}
