package io.firstclaim.templates;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the <a
 * href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/">template
 * reference</a> says of the resource types that are used here, written out by hand. A page is
 * {@code aws-resource-dynamodb-table.html} for a type, {@code
 * aws-properties-dynamodb-table-keyschema.html} for what it is made of.
 *
 * <p>A property has a {@code !} if it is required, and after a colon what it is: {@code text},
 * {@code boolean}, {@code integer}, {@code number}, {@code texts} (a text or a list of them),
 * {@code any}, one of several words, another structure, a {@code [list]} or a <code>{map}</code> of
 * those. One without must not be used before its type is written out here.
 *
 * <p>All of the resource types was compared with {@code @aws-cdk/aws-service-spec} 0.1.216 by
 * {@link CloudFormationTest}, which compares it with any other version.
 */
final class CloudFormation {
  static final Map<String, Map<String, Property>> STRUCTURES = new LinkedHashMap<>();

  /** What {@code Fn::GetAtt} may ask of a type: "Return values" on its page. */
  static final Map<String, Set<String>> ATTRIBUTES =
      Map.of(
          "AWS::DynamoDB::Table", Set.of("Arn", "StreamArn"),
          "AWS::DynamoDB::GlobalTable", Set.of("Arn", "StreamArn", "TableId"),
          "AWS::S3::Bucket",
              Set.of(
                  "Arn", "DomainName", "DualStackDomainName", "RegionalDomainName", "WebsiteURL"),
          "AWS::IAM::Role", Set.of("Arn", "RoleId"),
          "AWS::CloudWatch::Alarm", Set.of("Arn"));

  /**
   * A property.
   *
   * @param type null if it is documented, but not written out here
   */
  record Property(String name, boolean required, @Nullable String type) {}

  static {
    // template-anatomy.html
    structure(
        "Template",
        """
        AWSTemplateFormatVersion:2010-09-09 Conditions:any Description:text Mappings Metadata
        Outputs:{Output} Parameters:{Parameter} Resources!:{Resource} Rules Transform
        """);
    // parameters-section-structure.html
    structure(
        "Parameter",
        """
        AllowedPattern:text AllowedValues:texts ConstraintDescription:text Default:any
        Description:text MaxLength:integer MaxValue:number MinLength:integer MinValue:number
        NoEcho:boolean Type!:String|Number|List<Number>|CommaDelimitedList
        """);
    // outputs-section-structure.html
    structure("Output", "Condition:text Description:text Export Value!:any");
    // aws-product-attribute-reference.html
    structure(
        "Resource",
        """
        Condition:text CreationPolicy DeletionPolicy:Delete|Retain|RetainExceptOnCreate|Snapshot
        DependsOn:texts Metadata Properties:any Type!:text UpdatePolicy
        UpdateReplacePolicy:Delete|Retain|Snapshot
        """);

    // aws-resource-dynamodb-table.html
    structure(
        "AWS::DynamoDB::Table",
        """
        AttributeDefinitions:[AttributeDefinition] BillingMode:PROVISIONED|PAY_PER_REQUEST
        ContributorInsightsSpecification DeletionProtectionEnabled:boolean GlobalSecondaryIndexes
        ImportSourceSpecification KeySchema!:[KeySchema] KinesisStreamSpecification
        LocalSecondaryIndexes OnDemandThroughput
        PointInTimeRecoverySpecification:PointInTimeRecoverySpecification ProvisionedThroughput
        ResourcePolicy SSESpecification StreamSpecification
        TableClass:STANDARD|STANDARD_INFREQUENT_ACCESS TableName:text Tags
        TimeToLiveSpecification:TimeToLiveSpecification VectorIndexes WarmThroughput
        """);
    // aws-resource-dynamodb-globaltable.html
    structure(
        "AWS::DynamoDB::GlobalTable",
        """
        AttributeDefinitions:[AttributeDefinition] BillingMode:PROVISIONED|PAY_PER_REQUEST
        GlobalSecondaryIndexes GlobalTableSourceArn GlobalTableWitnesses:[GlobalTableWitness]
        KeySchema:[KeySchema] LocalSecondaryIndexes MultiRegionConsistency:EVENTUAL|STRONG
        ReadOnDemandThroughputSettings ReadProvisionedThroughputSettings
        Replicas!:[ReplicaSpecification] SSESpecification StreamSpecification TableName:text
        TimeToLiveSpecification:TimeToLiveSpecification VectorIndexes WarmThroughput
        WriteOnDemandThroughputSettings WriteProvisionedThroughputSettings
        """);
    // aws-properties-dynamodb-table-attributedefinition.html, …-globaltable-attributedefinition
    structure("AttributeDefinition", "AttributeName!:text AttributeType!:S|N|B");
    // aws-properties-dynamodb-table-keyschema.html, …-globaltable-keyschema
    structure("KeySchema", "AttributeName!:text KeyType!:HASH|RANGE");
    // aws-properties-dynamodb-table-timetolivespecification.html
    structure("TimeToLiveSpecification", "AttributeName:text Enabled!:boolean");
    // aws-properties-dynamodb-table-pointintimerecoveryspecification.html, …-globaltable-…
    structure(
        "PointInTimeRecoverySpecification",
        "PointInTimeRecoveryEnabled:boolean RecoveryPeriodInDays:integer");
    // aws-properties-dynamodb-globaltable-replicaspecification.html
    structure(
        "ReplicaSpecification",
        """
        ContributorInsightsSpecification DeletionProtectionEnabled:boolean GlobalSecondaryIndexes
        GlobalTableSettingsReplicationMode KinesisStreamSpecification
        PointInTimeRecoverySpecification:PointInTimeRecoverySpecification
        ReadOnDemandThroughputSettings ReadProvisionedThroughputSettings Region!:text
        ReplicaStreamSpecification ResourcePolicy SSESpecification
        TableClass:STANDARD|STANDARD_INFREQUENT_ACCESS Tags
        """);
    // aws-properties-dynamodb-globaltable-globaltablewitness.html
    structure("GlobalTableWitness", "Region:text");

    // aws-resource-s3-bucket.html
    structure(
        "AWS::S3::Bucket",
        """
        AbacStatus AccelerateConfiguration AccessControl AnalyticsConfigurations
        BucketEncryption:BucketEncryption BucketName:text BucketNamePrefix BucketNamespace
        CorsConfiguration
        IntelligentTieringConfigurations InventoryConfigurations
        LifecycleConfiguration:LifecycleConfiguration LoggingConfiguration
        MetadataConfiguration MetadataTableConfiguration MetricsConfigurations
        NotificationConfiguration ObjectLockConfiguration ObjectLockEnabled
        OwnershipControls:OwnershipControls
        PublicAccessBlockConfiguration:PublicAccessBlockConfiguration ReplicationConfiguration Tags
        VersioningConfiguration WebsiteConfiguration
        """);
    // aws-properties-s3-bucket-bucketencryption.html
    structure("BucketEncryption", "ServerSideEncryptionConfiguration!:[ServerSideEncryptionRule]");
    // aws-properties-s3-bucket-serversideencryptionrule.html
    structure(
        "ServerSideEncryptionRule",
        """
        BlockedEncryptionTypes BucketKeyEnabled:boolean
        ServerSideEncryptionByDefault:ServerSideEncryptionByDefault
        """);
    // aws-properties-s3-bucket-serversideencryptionbydefault.html
    structure(
        "ServerSideEncryptionByDefault",
        "KMSMasterKeyID:text SSEAlgorithm!:aws:kms|AES256|aws:kms:dsse");
    // aws-properties-s3-bucket-ownershipcontrols.html
    structure("OwnershipControls", "Rules!:[OwnershipControlsRule]");
    // aws-properties-s3-bucket-ownershipcontrolsrule.html
    structure(
        "OwnershipControlsRule",
        "ObjectOwnership:ObjectWriter|BucketOwnerPreferred|BucketOwnerEnforced");
    // aws-properties-s3-bucket-publicaccessblockconfiguration.html
    structure(
        "PublicAccessBlockConfiguration",
        """
        BlockPublicAcls:boolean BlockPublicPolicy:boolean IgnorePublicAcls:boolean
        RestrictPublicBuckets:boolean
        """);
    // aws-properties-s3-bucket-lifecycleconfiguration.html
    structure(
        "LifecycleConfiguration",
        """
        Rules!:[LifecycleRule]
        TransitionDefaultMinimumObjectSize:varies_by_storage_class|all_storage_classes_128K
        """);
    // aws-properties-s3-bucket-rule.html
    structure(
        "LifecycleRule",
        """
        AbortIncompleteMultipartUpload ExpirationDate ExpirationInDays:integer
        ExpiredObjectDeleteMarker:boolean Id:text
        NoncurrentVersionExpiration:NoncurrentVersionExpiration NoncurrentVersionExpirationInDays
        NoncurrentVersionTransition NoncurrentVersionTransitions ObjectSizeGreaterThan
        ObjectSizeLessThan Prefix:text Status!:Enabled|Disabled TagFilters Transition Transitions
        """);
    // aws-properties-s3-bucket-noncurrentversionexpiration.html
    structure(
        "NoncurrentVersionExpiration", "NewerNoncurrentVersions:integer NoncurrentDays!:integer");
    // aws-resource-s3-bucketpolicy.html
    structure("AWS::S3::BucketPolicy", "Bucket!:text PolicyDocument!:BucketPolicyDocument");

    // aws-resource-iam-role.html
    structure(
        "AWS::IAM::Role",
        """
        AssumeRolePolicyDocument!:TrustPolicyDocument Description:text ManagedPolicyArns
        MaxSessionDuration:integer Path:text PermissionsBoundary Policies:[Policy] RoleName Tags
        """);
    // aws-properties-iam-role-policy.html
    structure("Policy", "PolicyDocument!:PolicyDocument PolicyName!:text");
    // IAM's guide: reference_policies_grammar.html. Who is meant is said where a policy is not a
    // role's own, and of what in all but a trust policy.
    structure("PolicyDocument", "Id:text Statement!:[Statement] Version:2008-10-17|2012-10-17");
    structure(
        "BucketPolicyDocument",
        "Id:text Statement!:[BucketStatement] Version:2008-10-17|2012-10-17");
    structure(
        "TrustPolicyDocument", "Id:text Statement!:[TrustStatement] Version:2008-10-17|2012-10-17");
    structure(
        "Statement",
        "Action!:texts Condition:any Effect!:Allow|Deny NotAction Resource!:texts NotResource Sid:text");
    structure(
        "BucketStatement",
        """
        Action!:texts Condition:any Effect!:Allow|Deny NotAction NotPrincipal NotResource
        Principal!:any Resource!:texts Sid:text
        """);
    structure(
        "TrustStatement",
        "Action!:texts Condition:any Effect!:Allow|Deny NotAction NotPrincipal Principal!:any Sid:text");

    // aws-resource-cloudwatch-alarm.html
    structure(
        "AWS::CloudWatch::Alarm",
        """
        ActionsEnabled:boolean AlarmActions:texts AlarmDescription:text AlarmName:text
        ComparisonOperator:GreaterThanOrEqualToThreshold|GreaterThanThreshold|LessThanThreshold\
        |LessThanOrEqualToThreshold|LessThanLowerOrGreaterThanUpperThreshold|LessThanLowerThreshold\
        |GreaterThanUpperThreshold
        DatapointsToAlarm:integer Dimensions EvaluateLowSampleCountPercentile EvaluationCriteria
        EvaluationInterval EvaluationPeriods:integer EvaluationWindow ExtendedStatistic
        InsufficientDataActions
        MetricName Metrics:[MetricDataQuery] Namespace OKActions:texts Period Statistic Tags
        Threshold:number ThresholdMetricId TreatMissingData:breaching|notBreaching|ignore|missing
        Unit WarmUpConfiguration
        """);
    // aws-properties-cloudwatch-alarm-metricdataquery.html
    structure(
        "MetricDataQuery",
        """
        AccountId Expression:text Id!:text Label:text MetricStat:MetricStat Period:integer
        ReturnData:boolean
        """);
    // aws-properties-cloudwatch-alarm-metricstat.html
    structure("MetricStat", "Metric!:Metric Period!:integer Stat!:text Unit");
    // aws-properties-cloudwatch-alarm-metric.html
    structure("Metric", "Dimensions:[Dimension] MetricName:text Namespace:text");
    // aws-properties-cloudwatch-alarm-dimension.html
    structure("Dimension", "Name!:text Value!:text");
  }

  private CloudFormation() {}

  private static void structure(String name, String properties) {
    Map<String, Property> all = new LinkedHashMap<>();
    for (String each : properties.strip().split("\\s+", -1)) {
      String[] parts = each.split(":", 2);
      String property = parts[0].replace("!", "");
      all.put(
          property,
          new Property(property, parts[0].endsWith("!"), parts.length == 1 ? null : parts[1]));
    }
    STRUCTURES.put(name, all);
  }

  /**
   * What CloudFormation would not take.
   *
   * @param template worked out
   */
  static List<String> faults(Template template) {
    List<String> faults = new ArrayList<>();
    check(template.tree(), template.name(), "Template", faults);
    for (Map.Entry<String, JsonNode> each : template.resources().properties()) {
      String type = each.getValue().path("Type").asText();
      String place = template.name() + "/" + each.getKey();
      if (!type.startsWith("AWS::") || !STRUCTURES.containsKey(type)) {
        faults.add("%s is of the type %s, which is not written out here".formatted(place, type));
      } else {
        check(each.getValue().path("Properties"), place, type, faults);
      }
    }
    return faults;
  }

  private static void check(JsonNode value, String place, String type, List<String> faults) {
    if (type.startsWith("[")) {
      if (!value.isArray()) {
        faults.add(place + " must be a list");
      }
      int i = 0;
      for (JsonNode each : value) {
        check(each, place + "/" + i++, type.substring(1, type.length() - 1), faults);
      }
    } else if (type.startsWith("{")) {
      value
          .properties()
          .forEach(
              each ->
                  check(
                      each.getValue(),
                      place + "/" + each.getKey(),
                      type.substring(1, type.length() - 1),
                      faults));
    } else if (STRUCTURES.containsKey(type)) {
      checkStructure(value, place, STRUCTURES.getOrDefault(type, Map.of()), faults);
    } else if (!isOf(type, value)) {
      faults.add("%s is %s, but must be %s".formatted(place, value, type));
    }
  }

  private static void checkStructure(
      JsonNode value, String place, Map<String, Property> known, List<String> faults) {
    if (!value.isObject()) {
      faults.add(place + " must be a structure");
      return;
    }
    Set<String> missing = new HashSet<>();
    known.values().stream().filter(Property::required).forEach(each -> missing.add(each.name()));
    for (Map.Entry<String, JsonNode> field : value.properties()) {
      String at = place + "/" + field.getKey();
      missing.remove(field.getKey());
      Property property = known.get(field.getKey());
      if (property == null) {
        faults.add(at + " is not documented");
      } else if (property.type() == null) {
        faults.add(at + " is documented; write out its type here");
      } else {
        check(field.getValue(), at, property.type(), faults);
      }
    }
    missing.forEach(each -> faults.add("%s/%s is required".formatted(place, each)));
  }

  private static boolean isOf(String type, JsonNode value) {
    return switch (type) {
      case "any" -> true;
      case "text" -> value.isTextual();
      case "boolean" -> value.isBoolean();
      case "integer" -> value.isInt();
      case "number" -> value.isNumber();
      case "texts" -> value.isTextual() || (value.isArray() && areTexts(value));
      default ->
          value.isTextual() && List.of(type.split(Pattern.quote("|"), -1)).contains(value.asText());
    };
  }

  private static boolean areTexts(JsonNode list) {
    for (JsonNode each : list) {
      if (!each.isTextual()) {
        return false;
      }
    }
    return true;
  }
}
