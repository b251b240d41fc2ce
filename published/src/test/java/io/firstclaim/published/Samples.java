package io.firstclaim.published;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The README's samples as programs: word for word, with what a reader adds around them. Each is the
 * first block of Java under its heading.
 */
record Samples(Page readme) {
  private String under(String heading) {
    return readme.block("### " + heading, "java", 0);
  }

  private static void write(Path module, String name, String text) throws IOException {
    Path folder = Files.createDirectories(module.resolve("src/main/java/com/example"));
    Files.writeString(folder.resolve(name + ".java"), text);
  }

  /** A program that charges what it is given for one key, and then takes a mutex. */
  void library(Path module) throws IOException {
    write(
        module,
        "Sample",
        """
        package com.example;

        import io.firstclaim.lock.*;
        import io.firstclaim.lock.deduplicator.*;
        import io.firstclaim.lock.dynamodb.*;
        import io.firstclaim.lock.mutex.*;
        import java.time.Duration;
        import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

        public final class Sample {
          static String charge(byte[] body, long token) {
            System.out.println("charged " + new String(body));
            return "receipt " + token;
          }

          static void answer(int status, String text) {
            System.out.println(status + " " + text);
          }

          static void log(Object text) {
            System.out.println(text);
          }

          public static void main(String[] args) throws Exception {
            String key = "order-4711";
            byte[] body = "100 EUR".getBytes();
            try (var table = DynamoDbClient.create()) {
              new DynamoDbTable(table, "firstclaim").create();
            }
            sample(key, body);
            System.exit(0);
          }

          static void sample(String key, byte[] body) throws Exception {
        %s
          }
        }
        """
            .formatted(under("3. ").replace("{ … }", "{ log(held.token()); }")));
  }

  /** A method that starts an engine; it is compiled only. */
  void engine(Path module) throws IOException {
    write(
        module,
        "Orders",
        """
        package com.example;

        import io.firstclaim.lock.TimeSource;
        import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
        import io.firstclaim.processor.engine.Engine;
        import io.firstclaim.processor.handler.HandlerResult;
        import io.firstclaim.processor.handler.RecordContext;
        import java.util.List;
        import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

        final class Orders {
          void ship(RecordContext order) {}

          void start(DynamoDbClient client, TimeSource time) throws Exception {
        %s
          }
        }
        """
            .formatted(under("2. ")));
  }

  /** A handler; it is compiled only. */
  void handler(Path module) throws IOException {
    write(
        module,
        "Payments",
        """
        package com.example;

        import io.firstclaim.processor.handler.*;

        %s
        """
            .formatted(
                under("1. ")
                    .replace(
                        "implements RecordHandler {",
                        "implements RecordHandler {\n  void pay(Object id, byte[] value, long token) {}\n//")));
  }
}
