package io.firstclaim.templates;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code docker/aws}: that it is CloudFormation, and what it says of what matters. */
class AwsTemplatesTest {
  /** Of each parameter without a default. */
  private static final Map<String, String> GIVEN =
      Map.of(
          "Zone", "a",
          "Bucket", "firstclaim-claims",
          "OtherRegion", "eu-west-1",
          "WitnessRegion", "eu-west-2");

  /** Of each parameter by whose text something is there, or is another. */
  private static final Map<String, List<String>> EITHER =
      Map.of(
          "Topic", List.of("", "arn:aws:sns:eu-central-1:123456789012:alarms"),
          "TableRegion", List.of("", "eu-west-1"),
          "Folder", List.of("claims", "documents"));

  private static List<Template> everyWay(String name) {
    Template template = Template.of(name);
    List<Map<String, String>> ways = new ArrayList<>(List.of(Map.of()));
    for (var parameter : template.tree().path("Parameters").properties()) {
      JsonNode allowed = parameter.getValue().path("AllowedValues");
      List<String> values = new ArrayList<>();
      allowed.forEach(each -> values.add(each.asText()));
      if (EITHER.containsKey(parameter.getKey())) {
        values.addAll(EITHER.getOrDefault(parameter.getKey(), List.of()));
      } else if (GIVEN.containsKey(parameter.getKey())) {
        values.add(GIVEN.getOrDefault(parameter.getKey(), ""));
      }
      if (!values.isEmpty()) {
        ways =
            ways.stream()
                .flatMap(way -> values.stream().map(each -> with(way, parameter.getKey(), each)))
                .toList();
      }
    }
    return ways.stream().map(template::with).toList();
  }

  private static Map<String, String> with(Map<String, String> way, String key, String value) {
    Map<String, String> all = new HashMap<>(way);
    all.put(key, value);
    return all;
  }

  private static JsonNode only(String name, String type) {
    return everyWay(name).getFirst().only(type);
  }

  /** The table's template with a text replaced. */
  private static Template table(String right, String wrong) throws IOException {
    String yaml = Files.readString(Template.FOLDER.resolve("table.yaml"));
    assertThat(yaml).contains(right);
    return Template.parse("table.yaml", yaml.replace(right, wrong));
  }

  @Test
  void everyTemplate_isNamedInTheReadme() throws IOException {
    String readme = Files.readString(Template.FOLDER.resolve("README.md"));
    assertThat(Template.all())
        .hasSize(6)
        .allSatisfy(each -> assertThat(readme).contains("| [%1$s](%1$s) |".formatted(each.name())));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "alarms.yaml",
        "bucket.yaml",
        "global-table.yaml",
        "role-dynamodb.yaml",
        "role-s3.yaml",
        "table.yaml"
      })
  void everyProperty_isDocumented_andHasADocumentedValue_whateverTheParameters(String name) {
    assertThat(Template.of(name).danglingReferences()).isEmpty();
    assertThat(everyWay(name)).allSatisfy(way -> assertThat(CloudFormation.faults(way)).isEmpty());
  }

  @ParameterizedTest
  @CsvSource({
    "BillingMode: PAY_PER_REQUEST,   BillingMode: ON_DEMAND,        'BillingMode is \"ON_DEMAND\"'",
    "TimeToLiveSpecification:,       TimeToLive:,                   TimeToLive is not documented",
    "KeyType: HASH,                  Type: HASH,                    KeyType is required",
    "DeletionPolicy: Retain,         DeletionPolicy: Keep,          'DeletionPolicy is \"Keep\"'",
    "AWS::DynamoDB::Table,           AWS::DynamoDB::Tables,         of the type AWS::DynamoDB::Tables",
    "DeletionProtectionEnabled: true, DeletionProtectionEnabled: 7, must be boolean",
    "BillingMode: PAY_PER_REQUEST,   WarmThroughput: 1,             write out its type",
  })
  void whatIsNotDocumented_isAFault(String right, String wrong, String fault) throws IOException {
    assertThat(CloudFormation.faults(table(right, wrong).with(Map.of())))
        .anySatisfy(each -> assertThat(each).contains(fault));
  }

  @ParameterizedTest
  @CsvSource({
    "!Ref Table,            !Ref Tables,                  Ref Tables refers to nothing",
    "!Ref Table,            !Sub '${Tables}-a',           Fn::Sub Tables refers to nothing",
    "!Ref Table,            !Sub '${AWS::Regions}',       Fn::Sub AWS::Regions refers to nothing",
    "!Ref Table,            !GetAtt Claims.Name,          Fn::GetAtt Claims.Name refers to nothing",
    "!Ref Table,            '!If [A, !Ref Table, b]',     Fn::If A refers to nothing",
    "!Ref Table,            firstclaim,                   nothing refers to Table",
  })
  void referenceToNothing_isAFault(String right, String wrong, String fault) throws IOException {
    assertThat(table(right, wrong).danglingReferences())
        .anySatisfy(each -> assertThat(each).contains(fault));
  }

  /** DynamoDB encrypts every table; a key of one's own is the user's choice. */
  @ParameterizedTest
  @CsvSource({
    "table.yaml,        AWS::DynamoDB::Table",
    "global-table.yaml, AWS::DynamoDB::GlobalTable",
  })
  void table_isOnDemand_andStaysWhenItsStackGoes(String name, String type) {
    JsonNode table = only(name, type);

    assertThat(table.path("DeletionPolicy").asText()).isEqualTo("Retain");
    assertThat(table.path("UpdateReplacePolicy").asText()).isEqualTo("Retain");
    JsonNode properties = table.path("Properties");
    assertThat(properties.path("BillingMode").asText()).isEqualTo("PAY_PER_REQUEST");
    assertThat(properties.path("TableName").asText()).isEqualTo("firstclaim");
    Set<String> keys = new HashSet<>();
    properties.path("KeySchema").forEach(each -> keys.add(each.path("AttributeName").asText()));
    Set<String> defined = new HashSet<>();
    properties
        .path("AttributeDefinitions")
        .forEach(each -> defined.add(each.path("AttributeName").asText()));
    assertThat(defined).isEqualTo(keys);
  }

  @Test
  void everyReplica_isProtectedFromDeletion_andRecoverable() {
    List<JsonNode> replicas = new ArrayList<>();
    replicas.add(only("table.yaml", "AWS::DynamoDB::Table").path("Properties"));
    only("global-table.yaml", "AWS::DynamoDB::GlobalTable")
        .at("/Properties/Replicas")
        .forEach(replicas::add);

    assertThat(replicas)
        .hasSize(3)
        .allSatisfy(
            each -> {
              assertThat(each.path("DeletionProtectionEnabled").asBoolean()).isTrue();
              assertThat(
                      each.at("/PointInTimeRecoverySpecification/PointInTimeRecoveryEnabled")
                          .asBoolean())
                  .isTrue();
            });
  }

  /**
   * The page of {@code AWS::DynamoDB::GlobalTable}: with strong consistency there are three
   * replicas, or two and a witness, one of them where the stack is. <a
   * href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html">How
   * global tables work</a>: it has no TTL.
   */
  @Test
  void globalTable_isStronglyConsistent_inTwoRegionsAndAWitness_withoutATtl() {
    JsonNode table = only("global-table.yaml", "AWS::DynamoDB::GlobalTable").path("Properties");

    assertThat(table.path("MultiRegionConsistency").asText()).isEqualTo("STRONG");
    assertThat(table.has("TimeToLiveSpecification")).isFalse();
    List<String> regions = new ArrayList<>();
    table.path("Replicas").forEach(each -> regions.add(each.path("Region").asText()));
    table.path("GlobalTableWitnesses").forEach(each -> regions.add(each.path("Region").asText()));
    assertThat(regions)
        .containsExactly(Template.PSEUDO.get("AWS::Region"), "eu-west-1", "eu-west-2");
  }

  @Test
  void bucket_isEncrypted_andNobodyElses_andStaysWhenItsStackGoes() {
    JsonNode bucket = only("bucket.yaml", "AWS::S3::Bucket");

    assertThat(bucket.path("DeletionPolicy").asText()).isEqualTo("Retain");
    assertThat(bucket.path("UpdateReplacePolicy").asText()).isEqualTo("Retain");
    JsonNode properties = bucket.path("Properties");
    assertThat(
            properties
                .at(
                    "/BucketEncryption/ServerSideEncryptionConfiguration/0/ServerSideEncryptionByDefault/SSEAlgorithm")
                .asText())
        .isEqualTo("AES256");
    assertThat(properties.at("/OwnershipControls/Rules/0/ObjectOwnership").asText())
        .isEqualTo("BucketOwnerEnforced");
    assertThat(properties.path("PublicAccessBlockConfiguration").properties())
        .hasSize(4)
        .allSatisfy(each -> assertThat(each.getValue().asBoolean()).isTrue());
  }

  /**
   * <a href="https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html">Pod Identity's
   * role</a>.
   */
  @ParameterizedTest
  @ValueSource(strings = {"role-dynamodb.yaml", "role-s3.yaml"})
  void role_isForPodIdentityAlone(String name) {
    assertThat(everyWay(name))
        .hasSizeGreaterThan(1)
        .allSatisfy(
            way -> {
              JsonNode trust =
                  way.only("AWS::IAM::Role").at("/Properties/AssumeRolePolicyDocument/Statement");
              assertThat(trust).hasSize(1);
              assertThat(trust.path(0).path("Principal").toString())
                  .isEqualTo("{\"Service\":\"pods.eks.amazonaws.com\"}");
              assertThat(trust.path(0).path("Action").toString())
                  .isEqualTo("[\"sts:AssumeRole\",\"sts:TagSession\"]");
            });
  }

  @ParameterizedTest
  @CsvSource({"'', eu-central-1", "eu-west-1, eu-west-1"})
  void role_isForTheTableInItsRegion_whereverTheZoneIs(String given, String region) {
    Map<String, String> way =
        Map.of("Zone", "a", "Create", "true", "Sweep", "true", "TableRegion", given);
    assertThat(Right.of(Template.of("role-dynamodb.yaml").with(way)))
        .filteredOn(each -> !each.action().equals("dynamodb:DescribeGlobalTable"))
        .hasSizeGreaterThan(10)
        .allMatch(
            each ->
                each.resource()
                    .equals("arn:aws:dynamodb:%s:123456789012:table/firstclaim".formatted(region)));
  }

  /** The templates have the rights; the prose says of some why. */
  @Test
  void everyRight_thatThePageOfTheStoresNames_isInARole() throws IOException {
    Set<String> inRoles = new HashSet<>();
    for (String role : List.of("role-dynamodb.yaml", "role-s3.yaml")) {
      everyWay(role).forEach(way -> Right.of(way).forEach(each -> inRoles.add(each.action())));
    }
    String page = Files.readString(Path.of("../../docs/stores.md"));

    Set<String> named =
        Pattern.compile("`((dynamodb|s3):[A-Z]\\w+)`")
            .matcher(page)
            .results()
            .map(each -> each.group(1))
            .collect(Collectors.toCollection(HashSet::new));

    assertThat(named).hasSizeGreaterThan(5).contains("s3:DeleteObjectVersion");
    named.remove("s3:DeleteObjectVersion"); // which it says to give to nobody
    assertThat(inRoles).containsAll(named).doesNotContain("s3:DeleteObjectVersion");
  }

  /**
   * <a
   * href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDataQuery.html">MetricDataQuery</a>:
   * an alarm goes by the only query that returns data, which is the default, and has 20 at most;
   * each is a metric or an expression, and has an ID of its own that begins with a small letter.
   */
  @Test
  void everyAlarm_goesByTheSumOfItsMetrics_andTellsTheTopicIfThereIsOne() {
    List<Template> ways = everyWay("alarms.yaml");
    assertThat(ways).hasSize(2);
    for (int i = 0; i < ways.size(); i++) {
      Template way = ways.get(i);
      boolean tells = i == 1;
      assertThat(way.resources()).hasSize(2);
      for (JsonNode alarm : way.resources()) {
        JsonNode properties = alarm.path("Properties");
        List<String> returned = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        for (JsonNode query : properties.path("Metrics")) {
          assertThat(query.has("Expression")).isNotEqualTo(query.has("MetricStat"));
          assertThat(query.path("Id").asText()).matches("[a-z][A-Za-z0-9_]*");
          assertThat(ids.add(query.path("Id").asText())).isTrue();
          if (query.path("ReturnData").asBoolean(true)) {
            returned.add(query.path("Expression").asText());
          }
        }
        assertThat(returned).containsExactly("SUM(METRICS())");
        assertThat(ids).hasSizeLessThanOrEqualTo(20);
        assertThat(properties.path("DatapointsToAlarm").asInt())
            .isLessThanOrEqualTo(properties.path("EvaluationPeriods").asInt());
        assertThat(properties.has("AlarmActions")).isEqualTo(tells);
      }
    }
  }
}
