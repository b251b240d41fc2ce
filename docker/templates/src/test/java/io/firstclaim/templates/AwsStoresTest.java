package io.firstclaim.templates;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbBoardStore;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbDocumentStore;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.lock.dynamodb.TableSweeper;
import io.firstclaim.lock.s3.BucketPolicy;
import io.firstclaim.lock.s3.ProtectedPrefix;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.lock.s3.S3DocumentStore;
import io.firstclaim.lock.s3.Sweeper;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.S3Server;
import io.firstclaim.stack.server.Unhurried;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.client.builder.SdkClientBuilder;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.LifecycleRule;

/**
 * {@code docker/aws}, held against the stores: what the templates make is what claims need, and the
 * roles may do what the stores send, and nothing else.
 */
@Execution(ExecutionMode.SAME_THREAD)
class AwsStoresTest {
  private static final ClaimSettings SETTINGS = ClaimSettings.of("walk", "a");
  private static final TimeSource TIME = TimeSource.system();
  private static final Duration INTERVAL = Duration.ofHours(1);
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private static final String BUCKET = "firstclaim-claims";
  private static final String PREFIX = "claims/";

  /**
   * What the server here does not know of a bucket's configuration, and S3 says if it is not set.
   */
  private static final Map<String, String> PARTS =
      Map.of(
          "?lifecycle", "NoSuchLifecycleConfiguration",
          "?policy", "NoSuchBucketPolicy",
          "?publicAccessBlock", "NoSuchPublicAccessBlockConfiguration");

  private static DynamoDbServer dynamoDb;
  private static S3Server s3;
  private static FaultProxy proxy;

  /** What the proxy was sent of those parts. */
  private final Map<String, String> put = new ConcurrentHashMap<>();

  private final AtomicInteger puts = new AtomicInteger();
  private final Requests requests = new Requests();
  private final List<AutoCloseable> clients = new ArrayList<>();

  @BeforeAll
  static void start() {
    dynamoDb = DynamoDbServer.start(JvmTuning.SHORT_RUN);
    s3 = S3Server.start(JvmTuning.SHORT_RUN);
    proxy = FaultProxy.start(s3.endpoint());
  }

  @AfterAll
  static void stop() {
    proxy.close();
    s3.close();
    dynamoDb.close();
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : clients) {
      each.close();
    }
    proxy.clear();
  }

  // Clients

  private <C extends AutoCloseable, B extends SdkClientBuilder<B, C>> C noted(B builder) {
    builder.overrideConfiguration(
        builder.overrideConfiguration().toBuilder()
            .addExecutionInterceptor(requests)
            .addExecutionInterceptor(new Unhurried())
            .build());
    C client = builder.build();
    clients.add(client);
    return client;
  }

  private static StaticCredentialsProvider credentials() {
    return StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test"));
  }

  private static DynamoDbClientBuilder anyDynamoDb() {
    return DynamoDbClient.builder()
        .endpointOverride(dynamoDb.endpoint())
        .region(Region.EU_CENTRAL_1)
        .credentialsProvider(credentials())
        .httpClientBuilder(Apache5HttpClient.builder());
  }

  private DynamoDbClient notedDynamoDb() {
    return noted(DynamoDbTable.configure(anyDynamoDb(), SETTINGS));
  }

  /** A client through the proxy, which plays the parts that the server does not know. */
  private S3Client notedS3() {
    PARTS.forEach(
        (part, code) -> {
          Predicate<Request> concerned = Match.pathContains(part);
          Predicate<Request> asks = concerned.and(Match.operation("GET"));
          proxy.add(Rule.always(asks.and(_ -> !put.containsKey(part)), Fault.Answer.s3(404, code)));
          Predicate<Request> keeps =
              request -> {
                puts.incrementAndGet();
                put.put(part, request.body());
                proxy.add(Rule.always(asks, new Fault.Answer(200, Map.of(), request.body())));
                return true;
              };
          proxy.add(
              Rule.always(
                  concerned.and(Match.operation("PUT")).and(keeps), Fault.Answer.status(200)));
        });
    return noted(
        S3Bucket.configure(
            S3Client.builder()
                .endpointOverride(proxy.endpoint())
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(credentials())
                .httpClientBuilder(Apache5HttpClient.builder()),
            SETTINGS));
  }

  // What the templates make

  /** As CloudFormation would make it, but for what the server does not know. */
  private static void makeTable(String table, boolean withTtl) {
    JsonNode properties =
        Template.of("table.yaml")
            .with(Map.of("Table", table))
            .only("AWS::DynamoDB::Table")
            .path("Properties");
    try (DynamoDbClient client = anyDynamoDb().build()) {
      List<AttributeDefinition> attributes = new ArrayList<>();
      properties
          .path("AttributeDefinitions")
          .forEach(
              each ->
                  attributes.add(
                      AttributeDefinition.builder()
                          .attributeName(each.path("AttributeName").asText())
                          .attributeType(each.path("AttributeType").asText())
                          .build()));
      List<KeySchemaElement> key = new ArrayList<>();
      properties
          .path("KeySchema")
          .forEach(
              each ->
                  key.add(
                      KeySchemaElement.builder()
                          .attributeName(each.path("AttributeName").asText())
                          .keyType(each.path("KeyType").asText())
                          .build()));
      var _ =
          client.createTable(
              create ->
                  create
                      .tableName(properties.path("TableName").asText())
                      .billingMode(properties.path("BillingMode").asText())
                      .deletionProtectionEnabled(
                          properties.path("DeletionProtectionEnabled").asBoolean())
                      .attributeDefinitions(attributes)
                      .keySchema(key));
      if (withTtl) {
        JsonNode ttl = properties.path("TimeToLiveSpecification");
        var _ =
            client.updateTimeToLive(
                update ->
                    update
                        .tableName(table)
                        .timeToLiveSpecification(
                            specification ->
                                specification
                                    .attributeName(ttl.path("AttributeName").asText())
                                    .enabled(ttl.path("Enabled").asBoolean())));
      }
    }
  }

  private static Template bucketTemplate() {
    return Template.of("bucket.yaml").with(Map.of("Bucket", BUCKET));
  }

  private static String policyOfTheTemplate() {
    return bucketTemplate()
        .only("AWS::S3::BucketPolicy")
        .at("/Properties/PolicyDocument")
        .toString();
  }

  private static LifecycleRule ruleOfTheTemplate() {
    JsonNode rules =
        bucketTemplate().only("AWS::S3::Bucket").at("/Properties/LifecycleConfiguration/Rules");
    assertThat(rules).hasSize(1);
    JsonNode rule = rules.path(0);
    return LifecycleRule.builder()
        .id(rule.path("Id").asText())
        .status(rule.path("Status").asText())
        .filter(filter -> filter.prefix(rule.path("Prefix").asText()))
        .expiration(expiration -> expiration.days(rule.path("ExpirationInDays").asInt()))
        .noncurrentVersionExpiration(
            old ->
                old.noncurrentDays(rule.at("/NoncurrentVersionExpiration/NoncurrentDays").asInt()))
        .build();
  }

  private void makeBucket(S3Client client) {
    s3.createBucket(BUCKET);
    JsonNode block =
        bucketTemplate().only("AWS::S3::Bucket").at("/Properties/PublicAccessBlockConfiguration");
    var _ =
        client.putBucketLifecycleConfiguration(
            put ->
                put.bucket(BUCKET).lifecycleConfiguration(all -> all.rules(ruleOfTheTemplate())));
    var _ = client.putBucketPolicy(put -> put.bucket(BUCKET).policy(policyOfTheTemplate()));
    var _ =
        client.putPublicAccessBlock(
            put ->
                put.bucket(BUCKET)
                    .publicAccessBlockConfiguration(
                        each ->
                            each.blockPublicAcls(block.path("BlockPublicAcls").asBoolean())
                                .blockPublicPolicy(block.path("BlockPublicPolicy").asBoolean())
                                .ignorePublicAcls(block.path("IgnorePublicAcls").asBoolean())
                                .restrictPublicBuckets(
                                    block.path("RestrictPublicBuckets").asBoolean())));
  }

  @Test
  void tableOfTheTemplate_isWhatClaimsNeed_andExpiresWhatIsPast() throws Exception {
    makeTable("of-the-template", true);
    DynamoDbClient client = notedDynamoDb();

    assertThat(new DynamoDbTable(client, "of-the-template").checks())
        .hasSizeGreaterThan(2)
        .allMatch(ConformanceResult::kept);
    Walk.claims(DynamoDbClaimStore.open(client, "of-the-template", SETTINGS, TIME));
    assertThat(sweeper(client, "of-the-template").sweep()).isEqualTo(INTERVAL);
    assertThat(requests.operations()).doesNotContain("Scan");
  }

  @Test
  void tableThatIsCreated_isThatOfTheTemplate() {
    makeTable("made", true);
    DynamoDbClient client = notedDynamoDb();
    new DynamoDbTable(client, "created").create();

    var made = client.describeTable(describe -> describe.tableName("made")).table();
    var created = client.describeTable(describe -> describe.tableName("created")).table();
    assertThat(made.keySchema()).isEqualTo(created.keySchema());
    assertThat(made.attributeDefinitions()).isEqualTo(created.attributeDefinitions());
    assertThat(made.billingModeSummary().billingMode())
        .isEqualTo(created.billingModeSummary().billingMode());
    assertThat(
            client
                .describeTimeToLive(describe -> describe.tableName("made"))
                .timeToLiveDescription())
        .isEqualTo(
            client
                .describeTimeToLive(describe -> describe.tableName("created"))
                .timeToLiveDescription());
  }

  @Test
  void bucketOfTheTemplate_isWhatClaimsNeed_andLacksNothingThatIsCreated() throws Exception {
    S3Client client = notedS3();
    makeBucket(client);
    assertThat(puts).hasValue(3);
    S3Bucket bucket = new S3Bucket(client, BUCKET, PREFIX);

    bucket.create(SETTINGS);
    assertThat(puts).as("after creating what it lacks").hasValue(3);
    assertThat(
            new BucketPolicy(client, BUCKET, List.of(ProtectedPrefix.onCondition(PREFIX)))
                .missing())
        .isEmpty();
    Walk.claims(S3ClaimStore.open(bucket, SETTINGS, TIME));
  }

  @Test
  void bucketThatIsCreated_isThatOfTheTemplate() throws IOException {
    S3Client client = notedS3();
    s3.createBucket("other");
    var _ =
        client.putBucketLifecycleConfiguration(
            set ->
                set.bucket("other").lifecycleConfiguration(all -> all.rules(ruleOfTheTemplate())));
    String rule = put.remove("?lifecycle");
    proxy.clear();
    S3Client fresh = notedS3();

    new S3Bucket(fresh, "created", PREFIX).create(SETTINGS);

    assertThat(put).hasSize(3);
    assertThat(put.get("?lifecycle")).isEqualTo(rule);
    String policy =
        new BucketPolicy(fresh, BUCKET, List.of(ProtectedPrefix.onCondition(PREFIX))).text();
    assertThat(listed(JSON.readTree(policyOfTheTemplate())))
        .isEqualTo(listed(JSON.readTree(policy)));
  }

  /** The statements of a policy, in which a list of one text is that text. */
  private static Set<Map<String, Object>> listed(JsonNode policy) {
    Set<Map<String, Object>> statements = new HashSet<>();
    for (JsonNode each : policy.path("Statement")) {
      Map<String, Object> statement = new HashMap<>();
      for (var field : each.properties()) {
        statement.put(
            field.getKey(),
            field.getValue().isArray() ? Right.texts(field.getValue()) : field.getValue());
        if (Set.of("Action", "Resource").contains(field.getKey())) {
          statement.put(field.getKey(), Right.texts(field.getValue()));
        }
      }
      statements.add(statement);
    }
    return statements;
  }

  // What the roles may do

  private TableSweeper sweeper(DynamoDbClient client, String table) {
    return new TableSweeper(
        client, table, SETTINGS, INTERVAL, TIME, StoreListener.NONE, (_, _) -> {});
  }

  /** All that a service does whose claims are in this table. */
  private void walk(String table, boolean create) throws Exception {
    DynamoDbClient client = notedDynamoDb();
    if (create) {
      new DynamoDbTable(client, table).create();
    }
    Walk.claims(DynamoDbClaimStore.open(client, table, SETTINGS, TIME));
    Walk.documents(new DynamoDbDocumentStore(client, table), "");
    Walk.board(new DynamoDbBoardStore(client, table, "tables", TIME));
    assertThat(sweeper(client, table).sweep()).isEqualTo(INTERVAL);
  }

  private void requireRole(Template role) {
    Set<Right> rights = Right.of(role);
    assertThat(requests.missingIn(rights)).as("what the role of %s lacks", role.name()).isEmpty();
    assertThat(requests.unusedOf(rights)).as("what nobody needs in %s", role.name()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "false, true"})
  void whatTheStoreSendsToDynamoDb_isInTheRole_andNothingElse(boolean create, boolean sweep)
      throws Exception {
    String table = "rights-%s-%s".formatted(create, sweep);
    if (!create) {
      makeTable(table, !sweep);
    }

    walk(table, create);

    requireRole(
        Template.of("role-dynamodb.yaml")
            .with(Map.of("Zone", "a", "Table", table, "Create", "" + create, "Sweep", "" + sweep)));
  }

  @ParameterizedTest
  @CsvSource({
    "false, '',       claims,    documents/",
    "true,  '',       claims,    documents/",
    "false, team-b/,  claims,    team-b/documents/",
    "false, a/b/,     documents, a/b/shared-documents/",
  })
  void whatTheStoreSendsToS3_isInTheRole_andNothingElse(
      boolean create, String parent, String folder, String documents) throws Exception {
    String name = "rights-%s-%s%s".formatted(create, parent.replace('/', '-'), folder);
    String prefix = parent + folder + "/";
    S3Client client = notedS3();
    S3Bucket bucket = new S3Bucket(client, name, prefix);
    if (create) {
      bucket.create(SETTINGS);
    } else {
      s3.createBucket(name);
    }

    Walk.claims(S3ClaimStore.open(bucket, SETTINGS, TIME));
    Walk.documents(new S3DocumentStore(client, name), documents);
    assertThat(
            new BucketPolicy(client, name, List.of(ProtectedPrefix.onCondition(prefix))).denials())
        .hasSize(2);
    var sweeper = new Sweeper(bucket, SETTINGS, INTERVAL, TIME, StoreListener.NONE, (_, _) -> {});
    assertThat(sweeper.sweep()).isEqualTo(INTERVAL);

    requireRole(
        Template.of("role-s3.yaml")
            .with(
                Map.of(
                    "Zone", "a",
                    "Bucket", name,
                    "Parent", parent,
                    "Folder", folder,
                    "Create", "" + create)));
  }

  @Test
  void rightThatIsMissing_andOneThatNobodyNeeds_areFound() {
    makeTable("asked", true);
    var _ = notedDynamoDb().describeTable(describe -> describe.tableName("asked"));
    String arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/";
    Right asked = new Right("dynamodb:DescribeTable", arn + "asked");
    Right other = new Right("dynamodb:DescribeTable", arn + "other");

    assertThat(requests.missingIn(List.of(other))).containsExactly(asked);
    assertThat(requests.unusedOf(List.of(other, asked))).containsExactly(other);
    assertThat(requests.missingIn(List.of(new Right("dynamodb:DescribeTable", arn + "as*"))))
        .isEmpty();
  }

  @Test
  void alarms_watchEachOperationOnItems_thatTheStoreSends() throws Exception {
    makeTable("watched", false);
    walk("watched", false);
    // What asks about the table, and not for an item, has no such metrics.
    Set<String> onItems = new TreeSet<>(requests.operations());
    onItems.removeIf(each -> each.startsWith("Describe"));

    for (JsonNode alarm : Template.of("alarms.yaml").with(Map.of()).resources()) {
      Set<String> watched = new TreeSet<>();
      for (JsonNode query : alarm.at("/Properties/Metrics")) {
        JsonNode dimensions = query.at("/MetricStat/Metric/Dimensions");
        if (dimensions.isArray()) {
          assertThat(dimensions.at("/0/Name").asText()).isEqualTo("TableName");
          assertThat(dimensions.at("/1/Name").asText()).isEqualTo("Operation");
          watched.add(dimensions.at("/1/Value").asText());
        }
      }
      assertThat(watched).isEqualTo(onItems);
    }
  }
}
