package io.firstclaim.processor.service.scenario;

import static io.firstclaim.lock.testkit.fault.Match.bodyContains;
import static io.firstclaim.lock.testkit.fault.Match.header;
import static io.firstclaim.lock.testkit.fault.Match.operation;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Request;
import java.net.URI;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/** Where claims are kept, and how requests about them are recognised. */
enum Backend {
  DYNAMODB("AWS_ENDPOINT_URL_DYNAMODB", "FIRSTCLAIM_CLAIM_DYNAMODB_TABLE") {
    @Override
    URI endpoint() {
      return Servers.DYNAMO_DB.endpoint();
    }

    @Override
    Claims claims(String table) {
      return new DynamoDbClaims(table);
    }

    @Override
    Predicate<Request> claim() {
      return operation("UpdateItem");
    }

    @Override
    Predicate<Request> step(String state) {
      return operation("PutItem")
          .and(bodyContains("\"claimState\":{\"S\":\"%s\"}".formatted(state)));
    }

    @Override
    Fault refusal() {
      return Fault.Answer.dynamoDb(400, "AccessDeniedException");
    }
  },
  S3("AWS_ENDPOINT_URL_S3", "FIRSTCLAIM_CLAIM_S3_BUCKET") {
    @Override
    URI endpoint() {
      return Servers.S3.endpoint();
    }

    @Override
    Claims claims(String bucket) {
      return new S3Claims(bucket);
    }

    @Override
    Predicate<Request> claim() {
      return header("If-None-Match");
    }

    @Override
    Predicate<Request> step(String state) {
      return header("If-Match").and(bodyContains("\"state\":\"%s\"".formatted(state)));
    }

    @Override
    Fault refusal() {
      return Fault.Answer.s3(403, "AccessDenied");
    }
  };

  /** By what a process is let in, by each server here. */
  static final Map<String, String> ACCESS =
      Map.of(
          "AWS_REGION", "eu-central-1",
          "AWS_ACCESS_KEY_ID", "local",
          "AWS_SECRET_ACCESS_KEY", "local");

  private final String endpointVariable;
  private final String placeVariable;

  Backend(String endpointVariable, String placeVariable) {
    this.endpointVariable = endpointVariable;
    this.placeVariable = placeVariable;
  }

  /** The server's address, without a proxy. */
  abstract URI endpoint();

  /** The claims in the table or bucket of this name. */
  abstract Claims claims(String place);

  /** Matches the requests that claim a record for the first time. */
  abstract Predicate<Request> claim();

  /** Matches the steps under a lease that leave a claim in this state. */
  abstract Predicate<Request> step(String state);

  /** The answer to a request that the store does not permit. */
  abstract Fault refusal();

  /** Matches the requests that write the claim of this record. */
  static Predicate<Request> about(String id) {
    String encoded = Base64.getEncoder().encodeToString(id.getBytes(UTF_8));
    return bodyContains("\"" + encoded + "\"");
  }

  /** What has an instance keep its claims here, in the table or bucket of this name. */
  Map<String, String> settings(String place) {
    return Map.of(
        "FIRSTCLAIM_CLAIM_BACKEND",
        name().toLowerCase(Locale.ROOT),
        placeVariable,
        place,
        endpointVariable,
        endpoint().toString());
  }

  /** The environment variable by which an instance finds the server. */
  String endpointVariable() {
    return endpointVariable;
  }
}
