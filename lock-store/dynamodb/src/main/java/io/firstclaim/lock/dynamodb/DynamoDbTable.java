package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.aws.TranslatedFaults;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.MultiRegionConsistency;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;
import software.amazon.awssdk.services.dynamodb.waiters.DynamoDbWaiter;

/**
 * The table that claims are kept in: string partition key {@code pk}, TTL on {@code expiresAt}
 * unless it is strongly consistent across Regions, on demand. Creates it, and refuses one that
 * cannot keep the protocol's promise.
 */
public final class DynamoDbTable {
  private static final Logger LOG = LoggerFactory.getLogger(DynamoDbTable.class);

  private static final String CREATE = "dynamodb:CreateTable; or create it yourself";
  private static final String DESCRIBE = "dynamodb:DescribeTable";
  private static final String DESCRIBE_TTL = "dynamodb:DescribeTimeToLive";
  private static final String DESCRIBE_GLOBAL =
      "dynamodb:DescribeGlobalTable on arn:aws:dynamodb::ACCOUNT:global-table/";
  private static final String LEGACY = "2017.11.29";

  /** The last of these comes from stores that do not know the request. */
  private static final Set<String> KNOWS_NO_GLOBAL_TABLE =
      Set.of("GlobalTableNotFoundException", "ValidationException", "UnknownOperationException");

  /** Errors that no retry can mend. */
  private static final Set<String> PERMANENT =
      Set.of("AccessDeniedException", "ResourceNotFoundException", "ValidationException");

  private final DynamoDbClient client;
  private final String name;

  /** The table of this name, which need not be there yet. */
  public DynamoDbTable(DynamoDbClient client, String name) {
    this.client = TranslatedFaults.of(DynamoDbClient.class, client);
    this.name = name;
  }

  /**
   * Gives a client time limits that suit a lease. Within them the SDK's own retries, with jittered
   * backoff, answer throttling, faults and the write conflicts of a global table.
   *
   * <p>How many connections it may have is its HTTP client's to say: the SDK's own have 50 unless
   * told otherwise, which is what batches need; reads, and writes that share no request, may be
   * more.
   */
  public static DynamoDbClientBuilder configure(
      DynamoDbClientBuilder builder, ClaimSettings settings) {
    // Not overrideConfiguration(Consumer), which would forget what the caller has set.
    return builder.overrideConfiguration(
        TimeLimits.limited(builder.overrideConfiguration(), settings.storeTimeout()).build());
  }

  /**
   * Creates the table if it is missing, waits for it, and enables TTL where there is one.
   *
   * @throws StoreRefusedException if DynamoDB does not allow it, with the remedy
   * @throws StoreUnavailableException if DynamoDB does not answer
   */
  public void create() {
    boolean created = ask(CREATE, this::createIfMissing);
    boolean there = ask(DESCRIBE, this::awaitTable);
    LOG.debug("Table {}: {}, {}", name, created ? "created" : "found", there);
    if (!isStrong(describe()) && !hasTimeToLive()) {
      enableTimeToLive();
    }
  }

  /**
   * The table's identity, an item of its own that no TTL removes; made if it is missing. A table
   * restored from a backup has another.
   *
   * @throws StoreRefusedException if it is missing and the role may not write it
   * @throws StoreUnavailableException if DynamoDB does not answer
   */
  String identity() {
    Identity identity = new Identity(client, name, place(describe()));
    return ask("dynamodb:GetItem, PutItem and UpdateItem", identity::get);
  }

  /**
   * What names the table itself: the ID that it got when it was made, or its name where a store
   * gives none. The replicas of a global table need not share one.
   */
  private String place(TableDescription table) {
    return isReplicated(table) || isStrong(table)
        ? "global table"
        : Objects.requireNonNullElse(table.tableId(), name);
  }

  private boolean createIfMissing() {
    try {
      client.createTable(
          table ->
              table
                  .tableName(name)
                  .overrideConfiguration(TimeLimits.SETUP)
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
      return true;
    } catch (ResourceInUseException e) {
      LOG.debug("DynamoDB table {} is there already", name);
      return false;
    }
  }

  private boolean awaitTable() {
    try (var waiter = DynamoDbWaiter.builder().client(client).build()) {
      waiter.waitUntilTableExists(
          table -> table.tableName(name).overrideConfiguration(TimeLimits.SETUP));
      return true;
    }
  }

  /**
   * Checks that the table is there and that claims can rest on it, by means of {@link #checks()}.
   *
   * @throws StoreRefusedException if they cannot, with what was seen and the remedy
   * @throws StoreUnavailableException if DynamoDB does not answer
   */
  public void verify() {
    ConformanceResult.requireAll("DynamoDB table " + name, checks());
    if (isStrong(describe())) {
      LOG.info(
          "DynamoDB table {} is strongly consistent across Regions and so has no TTL: finished claims"
              + " stay until a sweeper removes them, and for ever without one",
          name);
    } else if (!hasTimeToLive()) {
      LOG.warn(
          "DynamoDB table {} has no TTL on {}: finished claims stay until a sweeper removes them, at"
              + " the price of a write each, and for ever without one. Enable it with"
              + " aws dynamodb update-time-to-live --table-name {}"
              + " --time-to-live-specification Enabled=true,AttributeName={}",
          name,
          Items.EXPIRES_AT,
          name,
          Items.EXPIRES_AT);
    }
  }

  /**
   * Whether the table removes by itself what is past its retention.
   *
   * @throws StoreRefusedException if the table is missing or the role may not ask
   * @throws StoreUnavailableException if DynamoDB does not answer
   */
  boolean expires() {
    return !isStrong(describe()) && hasTimeToLive();
  }

  /**
   * Looks at the table's key and replicas, and tries out conditional writes on it.
   *
   * @return one check for each; only the key's if it is not the one claims need
   * @throws StoreRefusedException if the table is missing or the role may not use it
   * @throws StoreUnavailableException if DynamoDB does not answer
   */
  public List<ConformanceResult> checks() {
    TableDescription table = describe();
    ConformanceResult key = key(table);
    if (!key.kept()) {
      return List.of(key);
    }
    return Stream.concat(
            Stream.of(key, oneTruth(table)), new TableConformanceCheck(this).run().stream())
        .toList();
  }

  DynamoDbClient client() {
    return client;
  }

  String name() {
    return name;
  }

  /**
   * Whether this is a refusal that no retry can mend, of a request that was sent only once: if the
   * answer to an earlier try was lost, that one may have been applied.
   */
  static boolean isPermanent(RuntimeException fault) {
    return Faults.wasSentOnce(fault) && PERMANENT.contains(Faults.code(fault));
  }

  private TableDescription describe() {
    try {
      return ask(
          DESCRIBE,
          () ->
              client
                  .describeTable(
                      describe -> describe.tableName(name).overrideConfiguration(TimeLimits.SETUP))
                  .table());
    } catch (StoreUnavailableException e) {
      if (e.getCause() instanceof ResourceNotFoundException) {
        throw new StoreRefusedException(
            "DynamoDB table %s is missing; create it, or have it created at the start"
                .formatted(name));
      }
      throw e;
    }
  }

  private static ConformanceResult key(TableDescription table) {
    boolean right =
        table.keySchema().size() == 1
            && table.keySchema().getFirst().attributeName().equals(Items.KEY)
            && table.attributeDefinitions().stream()
                .anyMatch(
                    attribute ->
                        attribute.attributeName().equals(Items.KEY)
                            && attribute.attributeType() == ScalarAttributeType.S);
    return new ConformanceResult(
        "key of the table",
        right ? "the string pk" : "another than claims need; it must be the string pk alone",
        right);
  }

  /**
   * In a global table with eventual consistency each Region judges conditions by its own copy and
   * the last writer wins, so two Regions can both be granted one record (<a
   * href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html">How
   * global tables work</a>).
   */
  private ConformanceResult oneTruth(TableDescription table) {
    boolean global = isReplicated(table) || isLegacyGlobalTable(table);
    boolean strong = isStrong(table);
    String seen;
    if (!global) {
      seen = "in one Region";
    } else if (strong) {
      seen = "strongly consistent";
    } else {
      seen =
          "an eventually consistent global table: two Regions could both claim one record. Use a"
              + " table in one Region, or a global table with multi-Region strong consistency"
              + " (MRSC)";
    }
    return new ConformanceResult("replicas of the table", seen, !global || strong);
  }

  /**
   * Whether it is part of a global table of the first version, whose replicas its description need
   * not show (<a
   * href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_versions.html">Global
   * tables versions</a>).
   */
  private boolean isLegacyGlobalTable(TableDescription table) {
    if (table.globalTableVersion() != null) {
      return table.globalTableVersion().equals(LEGACY);
    }
    return ask(
        DESCRIBE_GLOBAL + name,
        () -> {
          try {
            return client
                    .describeGlobalTable(
                        describe ->
                            describe.globalTableName(name).overrideConfiguration(TimeLimits.SETUP))
                    .globalTableDescription()
                != null;
          } catch (DynamoDbException e) {
            if (KNOWS_NO_GLOBAL_TABLE.contains(Faults.code(e))) {
              return false;
            }
            throw e;
          }
        });
  }

  /**
   * Whether it is one table in several Regions. Such a table has neither transactions nor a TTL (<a
   * href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html">How
   * global tables work</a>).
   */
  static boolean isStrong(TableDescription table) {
    return table.multiRegionConsistency() == MultiRegionConsistency.STRONG;
  }

  private static boolean isReplicated(TableDescription table) {
    return table.hasReplicas() && !table.replicas().isEmpty();
  }

  private boolean hasTimeToLive() {
    var ttl =
        ask(
            DESCRIBE_TTL,
            () ->
                client
                    .describeTimeToLive(
                        describe ->
                            describe.tableName(name).overrideConfiguration(TimeLimits.SETUP))
                    .timeToLiveDescription());
    return (ttl.timeToLiveStatus() == TimeToLiveStatus.ENABLED
            || ttl.timeToLiveStatus() == TimeToLiveStatus.ENABLING)
        && Objects.equals(ttl.attributeName(), Items.EXPIRES_AT);
  }

  private void enableTimeToLive() {
    try {
      client.updateTimeToLive(
          ttl ->
              ttl.tableName(name)
                  .overrideConfiguration(TimeLimits.SETUP)
                  .timeToLiveSpecification(
                      spec -> spec.enabled(true).attributeName(Items.EXPIRES_AT)));
    } catch (SdkException e) {
      // Another instance may be turning it on, too; verify() warns if it stays off.
      LOG.debug("Could not enable TTL on {}", name, e);
    }
  }

  /**
   * Asks, and refuses what waiting cannot mend.
   *
   * @param permission that it needs
   */
  <T> T ask(String permission, Supplier<T> request) {
    try {
      return request.get();
    } catch (SdkException e) {
      // The SDK's waiter wraps the answer that it got.
      SdkException fault = e.getCause() instanceof DynamoDbException answer ? answer : e;
      String seen = "DynamoDB table %s: %s".formatted(name, Faults.inOneLine(fault));
      switch (Faults.code(fault)) {
        case "AccessDeniedException" ->
            throw new StoreRefusedException(seen + ". It takes the permission " + permission);
        case "ValidationException" -> throw new StoreRefusedException(seen + ". Check its name");
        default -> throw new StoreUnavailableException(seen, fault);
      }
    }
  }
}
