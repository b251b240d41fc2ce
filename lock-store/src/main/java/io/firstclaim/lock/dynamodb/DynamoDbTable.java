package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.MultiRegionConsistency;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;

/**
 * The table that claims are kept in: string partition key {@code pk}, TTL on {@code expiresAt}, on
 * demand. Creates it, and refuses one that cannot keep the protocol's promise.
 */
public final class DynamoDbTable {
  private static final Logger LOG = LoggerFactory.getLogger(DynamoDbTable.class);

  /** Looking at a table may take longer than a claim does, above all as the first thing. */
  private static final AwsRequestOverrideConfiguration SETUP =
      AwsRequestOverrideConfiguration.builder()
          .apiCallTimeout(Duration.ofSeconds(30))
          .apiCallAttemptTimeout(Duration.ofSeconds(10))
          .build();

  private final DynamoDbClient client;
  private final String name;

  /** The table of this name, which need not be there yet. */
  public DynamoDbTable(DynamoDbClient client, String name) {
    this.client = client;
    this.name = name;
  }

  /**
   * Gives a client time limits that suit a lease. Within them the SDK's own retries, with jittered
   * backoff, answer throttling, faults and the write conflicts of a global table.
   */
  public static DynamoDbClientBuilder configure(
      DynamoDbClientBuilder builder, ClaimSettings settings) {
    Duration limit = settings.storeTimeout();
    // Not overrideConfiguration(Consumer), which would forget what the caller has set.
    return builder.overrideConfiguration(
        builder.overrideConfiguration().toBuilder()
            .apiCallTimeout(limit)
            .apiCallAttemptTimeout(limit.multipliedBy(2).dividedBy(5))
            .build());
  }

  /**
   * Creates the table if it is missing, waits for it, and enables TTL.
   *
   * @throws StoreUnavailableException if DynamoDB does not answer or does not allow it
   */
  public void create() {
    ask(
        () -> {
          try {
            client.createTable(
                table ->
                    table
                        .tableName(name)
                        .overrideConfiguration(SETUP)
                        .billingMode(BillingMode.PAY_PER_REQUEST)
                        .attributeDefinitions(
                            AttributeDefinition.builder()
                                .attributeName(Items.KEY)
                                .attributeType(ScalarAttributeType.S)
                                .build())
                        .keySchema(
                            KeySchemaElement.builder()
                                .attributeName(Items.KEY)
                                .keyType(KeyType.HASH)
                                .build()));
            LOG.info("Created DynamoDB table {}", name);
          } catch (ResourceInUseException e) {
            LOG.debug("DynamoDB table {} is there already", name);
          }
          try (var waiter = client.waiter()) {
            waiter.waitUntilTableExists(
                table -> table.tableName(name).overrideConfiguration(SETUP));
          }
          if (!hasTimeToLive()) {
            enableTimeToLive();
          }
          return true;
        });
  }

  /**
   * Checks that the table is there, has the right key, is not an eventually consistent global
   * table, and that conditional writes work on it, by trying.
   *
   * @throws StoreRefusedException if one of these fails, with the remedy
   * @throws StoreUnavailableException if DynamoDB does not answer
   */
  public void verify() {
    TableDescription table;
    try {
      table =
          ask(
              () ->
                  client
                      .describeTable(
                          describe -> describe.tableName(name).overrideConfiguration(SETUP))
                      .table());
    } catch (StoreUnavailableException e) {
      if (e.getCause() instanceof ResourceNotFoundException) {
        throw new StoreRefusedException(
            "DynamoDB table %s is missing; create it, or start with firstclaim.claim.create=true"
                .formatted(name));
      }
      throw e;
    }
    requireKey(table);
    requireOneTruth(table);
    requireConditionalWrites();
    if (!ask(this::hasTimeToLive)) {
      LOG.warn(
          "DynamoDB table {} has no TTL on {}: finished claims stay for ever. Enable it with"
              + " aws dynamodb update-time-to-live --table-name {}"
              + " --time-to-live-specification Enabled=true,AttributeName={}",
          name,
          Items.EXPIRES_AT,
          name,
          Items.EXPIRES_AT);
    }
  }

  private void requireKey(TableDescription table) {
    boolean right =
        table.keySchema().size() == 1
            && table.keySchema().getFirst().attributeName().equals(Items.KEY)
            && table.attributeDefinitions().stream()
                .anyMatch(
                    attribute ->
                        attribute.attributeName().equals(Items.KEY)
                            && attribute.attributeType() == ScalarAttributeType.S);
    if (!right) {
      throw new StoreRefusedException(
          "DynamoDB table %s has another key than claims need; its only key must be the string %s"
              .formatted(name, Items.KEY));
    }
  }

  /**
   * In a global table with eventual consistency each Region judges conditions by its own version
   * and the last writer wins, so two Regions can both be granted one record (<a
   * href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html">How
   * global tables work</a>).
   */
  private void requireOneTruth(TableDescription table) {
    if (table.hasReplicas()
        && !table.replicas().isEmpty()
        && table.multiRegionConsistency() != MultiRegionConsistency.STRONG) {
      throw new StoreRefusedException(
          "DynamoDB table %s is an eventually consistent global table: two Regions could both claim"
                  .formatted(name)
              + " one record. Use a table in one Region, or a global table with multi-Region strong"
              + " consistency (MRSC)");
    }
  }

  private void requireConditionalWrites() {
    String key = "self-test/" + Nonce.random();
    requireProbe(
        took(probe(key, "a", "attribute_not_exists(pk)", null), "a"), "a first write failed");
    requireProbe(
        "a".equals(probe(key, "b", "attribute_not_exists(pk)", null)),
        "attribute_not_exists let a second writer in");
    requireProbe(
        "a".equals(probe(key, "c", "nonce = :nonce", "x")), "a write took on a wrong nonce");
    requireProbe(
        took(probe(key, "d", "nonce = :nonce", "a"), "d"), "a write failed on the right nonce");
    removeProbe(key, "d");
  }

  private void removeProbe(String key, String nonce) {
    try {
      client.deleteItem(
          delete ->
              delete
                  .tableName(name)
                  .overrideConfiguration(SETUP)
                  .key(Map.of(Items.KEY, Items.text(key)))
                  .conditionExpression("nonce = :nonce")
                  .expressionAttributeValues(Map.of(":nonce", Items.text(nonce))));
    } catch (SdkException e) {
      // Claims delete nothing, so the role may not be allowed to.
      LOG.debug("Self-test item {} of DynamoDB table {} is left to its TTL", key, name, e);
    }
  }

  /** A write whose answer was lost is repeated by the SDK and fails on what it wrote itself. */
  private static boolean took(@Nullable String failedOn, String written) {
    return failedOn == null || failedOn.equals(written);
  }

  /** One conditional write: null if it took, else the nonce of the item that it failed on. */
  private @Nullable String probe(String key, String nonce, String condition, @Nullable String on) {
    Instant tomorrow = TimeSource.system().now().wall().plus(Duration.ofDays(1));
    try {
      ask(
          () ->
              client.putItem(
                  put -> {
                    put.tableName(name)
                        .overrideConfiguration(SETUP)
                        .item(
                            Map.of(
                                Items.KEY,
                                Items.text(key),
                                Items.NONCE,
                                Items.text(nonce),
                                Items.EXPIRES_AT,
                                Items.number(tomorrow.getEpochSecond())))
                        .conditionExpression(condition)
                        .returnValuesOnConditionCheckFailure(
                            ReturnValuesOnConditionCheckFailure.ALL_OLD);
                    if (on != null) {
                      put.expressionAttributeValues(Map.of(":nonce", Items.text(on)));
                    }
                  }));
      return null;
    } catch (StoreUnavailableException e) {
      if (e.getCause() instanceof ConditionalCheckFailedException failed) {
        AttributeValue held = failed.item().get(Items.NONCE);
        return held == null ? "(no item was returned)" : held.s();
      }
      throw e;
    }
  }

  private void requireProbe(boolean kept, String seen) {
    if (!kept) {
      throw new StoreRefusedException(
          "DynamoDB table %s does not keep conditional writes: in the self-test %s. Its endpoint is no DynamoDB that claims can rest on"
              .formatted(name, seen));
    }
  }

  private boolean hasTimeToLive() {
    var ttl =
        client
            .describeTimeToLive(describe -> describe.tableName(name).overrideConfiguration(SETUP))
            .timeToLiveDescription();
    return (ttl.timeToLiveStatus() == TimeToLiveStatus.ENABLED
            || ttl.timeToLiveStatus() == TimeToLiveStatus.ENABLING)
        && Objects.equals(ttl.attributeName(), Items.EXPIRES_AT);
  }

  private void enableTimeToLive() {
    try {
      client.updateTimeToLive(
          ttl ->
              ttl.tableName(name)
                  .overrideConfiguration(SETUP)
                  .timeToLiveSpecification(
                      spec -> spec.enabled(true).attributeName(Items.EXPIRES_AT)));
    } catch (SdkException e) {
      // Another instance may be doing the same; verify() tells if it stays off.
      LOG.debug("Could not enable TTL on {}", name, e);
    }
  }

  private <T> T ask(Supplier<T> request) {
    try {
      return request.get();
    } catch (SdkException e) {
      throw new StoreUnavailableException(
          "DynamoDB table %s: %s".formatted(name, Faults.inOneLine(e)), e);
    }
  }
}
