package io.firstclaim.stack.server;

import java.nio.file.Files;
import java.nio.file.Path;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;

/**
 * The broker process: formats its storage if that is not done yet, then runs the server as {@code
 * kafka.Kafka} does, all in one JVM.
 *
 * <p>Arguments: the properties file, the cluster's ID, and a file that is created once the broker
 * takes requests.
 */
final class KafkaMain {
  private KafkaMain() {}

  public static void main(String[] args) throws Exception {
    String properties = args[0];
    String clusterId = args[1];
    Path ready = Path.of(args[2]);

    int formatted =
        StorageTool.execute(
            new String[] {
              "format", "--config", properties, "--cluster-id", clusterId, "--ignore-formatted"
            },
            System.out);
    if (formatted != 0) {
      System.exit(formatted);
    }
    KafkaRaftServer server =
        new KafkaRaftServer(KafkaConfig.fromProps(Utils.loadProps(properties)), Time.SYSTEM);
    Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown, "shutdown"));
    server.startup();
    Files.createFile(ready);
    server.awaitShutdown();
  }
}
