package io.firstclaim.templates;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.interceptor.SdkExecutionAttribute;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;

/**
 * Notes which rights the requests of a client take, by the Service Authorization Reference of <a
 * href="https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html">DynamoDB</a>
 * and <a
 * href="https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html">S3</a>.
 * A request that is not known here is taken for an action of its name. Thread-safe.
 */
final class Requests implements ExecutionInterceptor {
  private static final Pattern STATEMENT =
      Pattern.compile("(INSERT INTO|UPDATE|DELETE FROM|SELECT .* FROM) *\"([^\"]+)\".*");

  private final Set<Right> rights = new ConcurrentSkipListSet<>();
  private final Set<String> operations = new ConcurrentSkipListSet<>();

  /** The rights that were needed so far. */
  Set<Right> rights() {
    return new TreeSet<>(rights);
  }

  /** The operations so far, as the API calls them. */
  Set<String> operations() {
    return new TreeSet<>(operations);
  }

  /** Those needed that a role does not have. */
  List<Right> missingIn(Collection<Right> role) {
    return rights.stream()
        .filter(sent -> role.stream().noneMatch(each -> each.covers(sent)))
        .toList();
  }

  /** Those of a role that were not needed. */
  List<Right> unusedOf(Collection<Right> role) {
    return role.stream().filter(each -> rights.stream().noneMatch(each::covers)).toList();
  }

  @Override
  public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
    String operation = operation(attributes);
    operations.add(operation);
    if ("S3".equals(attributes.getAttribute(SdkExecutionAttribute.SERVICE_NAME))) {
      onS3(operation, context.request()).forEach(rights::add);
    } else {
      onDynamoDb(operation, context.request()).forEach(rights::add);
    }
  }

  /**
   * That there is no such object is said only to who may list the bucket (<a
   * href="https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html">GetObject</a>).
   */
  @Override
  public void onExecutionFailure(Context.FailedExecution context, ExecutionAttributes attributes) {
    if (context.exception() instanceof NoSuchKeyException) {
      rights.add(new Right("s3:ListBucket", bucket(context.request())));
    }
  }

  private static String operation(ExecutionAttributes attributes) {
    return String.valueOf(attributes.getAttribute(SdkExecutionAttribute.OPERATION_NAME));
  }

  private static String field(SdkRequest request, String name) {
    return request
        .getValueForField(name, String.class)
        .orElseThrow(() -> new IllegalArgumentException("no %s in %s".formatted(name, request)));
  }

  // DynamoDB

  /** A transaction has no right of its own, and a statement another one than the same request. */
  private static Stream<Right> onDynamoDb(String operation, SdkRequest request) {
    return switch (request) {
      case BatchExecuteStatementRequest batch ->
          batch.statements().stream().map(each -> statement(each.statement()));
      case BatchGetItemRequest batch ->
          batch.requestItems().keySet().stream().map(table -> onTable(operation, table));
      case TransactWriteItemsRequest transaction ->
          transaction.transactItems().stream().map(Requests::action);
      default ->
          Stream.of(
              operation.equals("DescribeGlobalTable")
                  ? new Right(
                      "dynamodb:" + operation,
                      "arn:aws:dynamodb::%s:global-table/%s"
                          .formatted(account(), field(request, "GlobalTableName")))
                  : onTable(operation, field(request, "TableName")));
    };
  }

  private static Right action(TransactWriteItem item) {
    if (item.put() != null) {
      return onTable("PutItem", item.put().tableName());
    }
    if (item.update() != null) {
      return onTable("UpdateItem", item.update().tableName());
    }
    if (item.delete() != null) {
      return onTable("DeleteItem", item.delete().tableName());
    }
    return onTable("ConditionCheckItem", item.conditionCheck().tableName());
  }

  /**
   * <a href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html">Policies
   * with PartiQL</a>.
   */
  private static Right statement(String text) {
    Matcher matcher = STATEMENT.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not understood here: " + text);
    }
    String kind =
        switch (matcher.group(1).charAt(0)) {
          case 'I' -> "PartiQLInsert";
          case 'U' -> "PartiQLUpdate";
          case 'D' -> "PartiQLDelete";
          default -> "PartiQLSelect";
        };
    return onTable(kind, matcher.group(2));
  }

  private static Right onTable(String action, String table) {
    return new Right(
        "dynamodb:" + action,
        "arn:aws:dynamodb:%s:%s:table/%s"
            .formatted(Template.PSEUDO.get("AWS::Region"), account(), table));
  }

  private static String account() {
    return String.valueOf(Template.PSEUDO.get("AWS::AccountId"));
  }

  // S3

  private static Stream<Right> onS3(String operation, SdkRequest request) {
    String bucket = bucket(request);
    return switch (operation) {
      case "GetObject", "PutObject", "DeleteObject" -> {
        String object = bucket + "/" + field(request, "Key");
        Stream<Right> own = Stream.of(new Right("s3:" + operation, object));
        // Whoever gives an ETag must be allowed to read what it is of:
        // https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-requests.html
        yield request.getValueForField("IfMatch", String.class).isPresent()
            ? Stream.concat(own, Stream.of(new Right("s3:GetObject", object)))
            : own;
      }
      case "HeadBucket", "ListObjects", "ListObjectsV2" ->
          Stream.of(new Right("s3:ListBucket", bucket));
      case "GetBucketLifecycleConfiguration" ->
          Stream.of(new Right("s3:GetLifecycleConfiguration", bucket));
      case "PutBucketLifecycleConfiguration" ->
          Stream.of(new Right("s3:PutLifecycleConfiguration", bucket));
      case "GetPublicAccessBlock" -> Stream.of(new Right("s3:GetBucketPublicAccessBlock", bucket));
      case "PutPublicAccessBlock" -> Stream.of(new Right("s3:PutBucketPublicAccessBlock", bucket));
      default -> Stream.of(new Right("s3:" + operation, bucket));
    };
  }

  private static String bucket(SdkRequest request) {
    return "arn:aws:s3:::" + field(request, "Bucket");
  }
}
