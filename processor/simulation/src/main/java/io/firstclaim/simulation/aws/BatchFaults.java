package io.firstclaim.simulation.aws;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstclaim.simulation.aws.Service.Answer;
import io.firstclaim.stack.standin.DynamoDbInMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Refuses some statements of a batch, each by itself, as DynamoDB does; the others are executed.
 */
final class BatchFaults {
  private static final int OK = 200;
  private static final ObjectMapper JSON = new ObjectMapper();

  private BatchFaults() {}

  /**
   * The answer to a batch.
   *
   * @param faultOf the code of the error that a statement meets with; empty for none
   * @param others executes a batch of those that meet with none
   */
  static Answer answer(
      byte[] batch,
      Function<String, Optional<String>> faultOf,
      Function<byte[], DynamoDbInMemory.Answer> others) {
    try {
      ObjectNode asked = (ObjectNode) JSON.readTree(batch);
      List<Optional<String>> faults = new ArrayList<>();
      ArrayNode left = JSON.createArrayNode();
      for (JsonNode each : asked.path("Statements")) {
        Optional<String> fault = faultOf.apply(each.toString());
        faults.add(fault);
        if (fault.isEmpty()) {
          left.add(each);
        }
      }
      asked.set("Statements", left);
      DynamoDbInMemory.Answer executed =
          left.isEmpty() ? null : others.apply(JSON.writeValueAsBytes(asked));
      if (executed != null && (executed.status() != OK || left.size() == faults.size())) {
        return new Answer(executed.status(), Map.of(), executed.body());
      }
      var done =
          (executed == null
                  ? JSON.createArrayNode()
                  : JSON.readTree(executed.body()).path("Responses"))
              .iterator();
      ObjectNode answer = JSON.createObjectNode();
      ArrayNode responses = answer.putArray("Responses");
      for (Optional<String> fault : faults) {
        if (fault.isEmpty()) {
          responses.add(done.next());
        } else {
          ObjectNode response = responses.addObject();
          response.put("TableName", "claims");
          response.putObject("Error").put("Code", fault.get()).put("Message", "simulated");
        }
      }
      return new Answer(OK, Map.of(), JSON.writeValueAsBytes(answer));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // nothing is read or written but memory
    }
  }

  /** The cancellation of a transaction whose first action conflicts with another one. */
  static byte[] cancelled(byte[] transaction) {
    try {
      ObjectNode answer = JSON.createObjectNode();
      answer.put("__type", "com.amazonaws.dynamodb.v20120810#TransactionCanceledException");
      answer.put(
          "Message",
          "Transaction cancelled, please refer cancellation reasons for specific reasons"
              + " [TransactionConflict]");
      ArrayNode reasons = answer.putArray("CancellationReasons");
      for (JsonNode _ : JSON.readTree(transaction).path("TransactItems")) {
        if (reasons.isEmpty()) {
          reasons
              .addObject()
              .put("Code", "TransactionConflict")
              .put("Message", "Transaction is ongoing for the item");
        } else {
          reasons.addObject().put("Code", "None");
        }
      }
      return JSON.writeValueAsBytes(answer);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // nothing is read or written but memory
    }
  }
}
