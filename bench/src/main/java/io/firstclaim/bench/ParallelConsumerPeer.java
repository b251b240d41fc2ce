package io.firstclaim.bench;

import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.CommitMode;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelStreamProcessor;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Confluent's parallel-consumer, each record with the two conditional writes of the bare SDK. */
final class ParallelConsumerPeer implements Peer {
  private final String bootstrapServers;
  private final DynamoDbClient client;

  ParallelConsumerPeer(String bootstrapServers, URI endpoint) {
    this.bootstrapServers = bootstrapServers;
    client = DynamoDb.client(endpoint);
  }

  @Override
  public Figure run(Work work) throws Exception {
    LongAdder completed = new LongAdder();
    ParallelStreamProcessor<byte[], byte[]> consumer =
        ParallelStreamProcessor.createEosStreamProcessor(
            ParallelConsumerOptions.<byte[], byte[]>builder()
                .ordering(ProcessingOrder.UNORDERED) // no two records have a key in common
                .commitMode(CommitMode.PERIODIC_CONSUMER_ASYNCHRONOUS)
                .maxConcurrency(work.atOnce())
                .consumer(Stack.consumer(bootstrapServers, work.topic() + "-parallel"))
                .build());
    try {
      consumer.subscribe(List.of(work.topic()));
      consumer.poll(
          context -> {
            String id = new String(context.key(), StandardCharsets.UTF_8);
            var _ = client.updateItem(DynamoDb.claimOf(work.table(), id));
            var _ = client.putItem(DynamoDb.completionOf(work.table(), id));
            completed.increment();
          });
      return Figure.measure(work.records(), completed::sum);
    } finally {
      consumer.closeDontDrainFirst();
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
