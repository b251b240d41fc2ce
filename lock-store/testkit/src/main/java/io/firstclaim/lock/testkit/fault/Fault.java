package io.firstclaim.lock.testkit.fault;

import java.time.Duration;
import java.util.Map;

/** What the {@link FaultProxy} does to a request. */
public sealed interface Fault {

  /** Forwards the request only after a while, even if the client has given up by then. */
  record DelayRequest(Duration by) implements Fault {}

  /** Forwards at once and answers only after a while. */
  record DelayResponse(Duration by) implements Fault {}

  /** Answers at once except for the last byte (the body's, if there is one), which is late. */
  record HoldLastByte(Duration by) implements Fault {}

  /** Answers but for the last byte (the body's, if there is one), and closes the connection. */
  record BreakOff() implements Fault {}

  /** Lets the server apply the request and never answers; the connection stays open. */
  record LoseResponse() implements Fault {}

  /** Lets the server apply the request, then resets the connection. */
  record ResetAfterApply() implements Fault {}

  /** Sends the request twice in a row and answers as the server did to the first. */
  record Duplicate() implements Fault {}

  /** Answers at once, and sends the same request again after a while, unseen by the client. */
  record DelayedDuplicate(Duration after) implements Fault {}

  /** Resets the connection without forwarding. */
  record Refuse() implements Fault {}

  /** Answers itself without forwarding. */
  record Answer(int status, Map<String, String> headers, String body) implements Fault {
    public Answer {
      headers = Map.copyOf(headers);
    }

    /** A bare status: 500, 503. */
    public static Answer status(int status) {
      return new Answer(status, Map.of(), "");
    }

    /** A DynamoDB error of that type, such as {@code InternalServerError}. */
    public static Answer dynamoDb(int status, String type) {
      String body =
          "{\"__type\":\"com.amazonaws.dynamodb.v20120810#%s\",\"message\":\"by the fault proxy\"}"
              .formatted(type);
      return new Answer(status, Map.of("Content-Type", "application/x-amz-json-1.0"), body);
    }

    /** DynamoDB asks to slow down. */
    public static Answer dynamoDbThrottling() {
      return dynamoDb(400, "ProvisionedThroughputExceededException");
    }

    /** An S3 error of that code, such as {@code SlowDown} or {@code ConditionalRequestConflict}. */
    public static Answer s3(int status, String code) {
      String body =
          """
          <?xml version="1.0" encoding="UTF-8"?>
          <Error><Code>%s</Code><Message>by the fault proxy</Message></Error>\
          """
              .formatted(code);
      return new Answer(status, Map.of("Content-Type", "application/xml"), body);
    }
  }
}
