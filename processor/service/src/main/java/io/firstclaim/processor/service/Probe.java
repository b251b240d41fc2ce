package io.firstclaim.processor.service;

import io.firstclaim.lock.Check;
import io.firstclaim.lock.dynamodb.DynamoDbTable;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.WrongSettingException;
import java.util.List;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * What the configured lock store does, tried as at every start, as a table for people.
 *
 * @param store the table or bucket
 * @param checks what was tried
 */
record Probe(String store, List<Check> checks) {
  /**
   * Tries the configured store, which is created before if that is configured.
   *
   * @throws WrongSettingException if it is none that can be tried
   * @throws io.firstclaim.lock.StoreUnavailableException if it does not answer
   * @throws io.firstclaim.lock.StoreRefusedException if it is missing or must not be used
   */
  static Probe of(ServiceSettings.Claiming claim) {
    return switch (claim.backend()) {
      case MEMORY ->
          throw new WrongSettingException(
              "firstclaim.claim.backend", "memory", "give dynamodb or s3 to probe it");
      case DYNAMODB -> {
        try (DynamoDbClient client = StoreClients.dynamoDb(claim)) {
          DynamoDbTable table = new DynamoDbTable(client, claim.table());
          if (claim.create()) {
            table.create();
          }
          yield new Probe("DynamoDB table " + claim.table(), table.checks());
        }
      }
      case S3 -> {
        ServiceSettings.S3 place = claim.s3().orElseThrow();
        try (S3Client client = StoreClients.s3(claim)) {
          S3Bucket bucket = new S3Bucket(client, place.bucket(), place.prefix());
          if (claim.create()) {
            bucket.create(claim.store());
          }
          yield new Probe(
              "S3 bucket %s, prefix %s".formatted(place.bucket(), place.prefix()), bucket.checks());
        }
      }
    };
  }

  /** Whether claims can rest on the store. */
  boolean accepted() {
    return checks.stream().allMatch(Check::kept);
  }

  /** The table, a line each check, and the verdict. */
  String table() {
    int name = width(checks.stream().map(Check::name).toList());
    int seen = width(checks.stream().map(Check::seen).toList());
    StringBuilder table = new StringBuilder(store).append(System.lineSeparator());
    String line = "  %-" + name + "s  %-" + seen + "s  %s%n";
    for (Check check : checks) {
      table.append(line.formatted(check.name(), check.seen(), check.kept() ? "ok" : "BROKEN"));
    }
    return table
        .append(accepted() ? "Claims can rest on it." : "Claims cannot rest on it.")
        .toString();
  }

  private static int width(List<String> column) {
    return column.stream().mapToInt(String::length).max().orElse(1);
  }
}
