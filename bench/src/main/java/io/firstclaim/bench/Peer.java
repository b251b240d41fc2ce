package io.firstclaim.bench;

import java.net.URI;
import java.util.List;
import software.amazon.awssdk.http.crt.AwsCrtAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;

/** One way to process each record once, in a process of its own. */
interface Peer extends AutoCloseable {
  /** Processes the records, and says what that took; what comes before the first is not counted. */
  Figure run(Work work) throws Exception;

  @Override
  void close();

  /**
   * What is to be done.
   *
   * @param atOnce how many records may be under way
   * @param topic has the records, for those that read them from Kafka
   * @param outcomes a topic for those that say how a record ended
   * @param table an empty table with the string key {@code pk}, or a prefix that is not used
   */
  record Work(int records, int atOnce, String topic, String outcomes, String table) {
    /** The name of a record that does not come from Kafka. */
    String id(int n) {
      return table + "-" + n;
    }
  }

  /** All that there are. */
  enum Kind {
    MEMORY("engine, memory store, no outcomes"),
    MEMORY_ANNOUNCED("engine, memory store, outcomes published and read"),
    FIRSTCLAIM_ON_S3("Firstclaim on S3"),
    FIRSTCLAIM("Firstclaim"),
    SDK("bare SDK, blocking client, virtual threads"),
    NETTY("bare SDK, asynchronous client on Netty"),
    CRT("bare SDK, asynchronous client on CRT"),
    PARALLEL_CONSUMER("parallel-consumer, the same two writes, from Kafka"),
    LOCK_CLIENT("dynamodb-lock-client, a lock a record, virtual threads"),
    SHEDLOCK("ShedLock, a lock a record, virtual threads"),
    POWERTOOLS("Powertools, an idempotent call a record, virtual threads");

    final String title;

    Kind(String title) {
      this.title = title;
    }

    /** The engine on DynamoDB, and what else one would take. */
    static List<Kind> compared() {
      return List.of(
          FIRSTCLAIM, SDK, NETTY, CRT, PARALLEL_CONSUMER, LOCK_CLIENT, SHEDLOCK, POWERTOOLS);
    }

    /** How much at once is tried. */
    List<Integer> atOnce() {
      return switch (this) {
        case MEMORY, MEMORY_ANNOUNCED, FIRSTCLAIM, FIRSTCLAIM_ON_S3 -> List.of(1000);
        case SDK, LOCK_CLIENT, SHEDLOCK, POWERTOOLS -> List.of(16, 32, 64);
        case PARALLEL_CONSUMER -> List.of(32, 64, 128);
        case NETTY, CRT -> List.of(64, 128, 256);
      };
    }

    Peer open(String bootstrapServers, URI endpoint) {
      return switch (this) {
        case MEMORY -> MemoryPeer.silent(bootstrapServers);
        case MEMORY_ANNOUNCED -> MemoryPeer.announced(bootstrapServers);
        case FIRSTCLAIM -> FirstclaimPeer.onDynamoDb(bootstrapServers, endpoint);
        case FIRSTCLAIM_ON_S3 -> FirstclaimPeer.onS3(bootstrapServers, endpoint);
        case SDK -> new SdkPeer(endpoint);
        case NETTY ->
            new AsyncSdkPeer(
                endpoint, NettyNioAsyncHttpClient.builder().maxConcurrency(Stack.CONNECTIONS));
        case CRT ->
            new AsyncSdkPeer(
                endpoint, AwsCrtAsyncHttpClient.builder().maxConcurrency(Stack.CONNECTIONS));
        case PARALLEL_CONSUMER -> new ParallelConsumerPeer(bootstrapServers, endpoint);
        case LOCK_CLIENT -> new LockClientPeer(endpoint);
        case SHEDLOCK -> new ShedLockPeer(endpoint);
        case POWERTOOLS -> new PowertoolsPeer(endpoint);
      };
    }
  }
}
