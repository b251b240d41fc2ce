package io.firstclaim.stack.server;

import io.firstclaim.lock.testkit.process.JvmTuning;

/**
 * The servers that all tests of a JVM share: each starts when it is first asked for, and ends with
 * the JVM. What a test makes in them has a name that no other test's has.
 */
public final class SharedServers {
  private SharedServers() {}

  /** The broker; not to be closed. */
  public static KafkaBroker kafka() {
    return Kafka.BROKER;
  }

  /** The tables; not to be closed. */
  public static DynamoDbServer dynamoDb() {
    return DynamoDb.SERVER;
  }

  /** The buckets; not to be closed. */
  public static S3Server s3() {
    return S3.SERVER;
  }

  private static final class Kafka {
    private static final KafkaBroker BROKER = KafkaBroker.start(JvmTuning.SHORT_RUN);
  }

  private static final class DynamoDb {
    private static final DynamoDbServer SERVER = DynamoDbServer.start(JvmTuning.SHORT_RUN);
  }

  private static final class S3 {
    private static final S3Server SERVER = S3Server.start(JvmTuning.SHORT_RUN);
  }
}
