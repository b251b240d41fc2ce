package io.firstclaim.published;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The samples of a framework's page as an application: word for word, with what a reader adds
 * around them. Its listener says {@code paid} and the amount, its handler answers with a receipt,
 * and it says {@code started} at the end of its start.
 */
final class FrameworkSamples {
  private static final String BODY = "{ … }";
  private static final String PAY = "{ System.out.println(\"paid \" + payment.amount()); }";
  private static final String RECEIPT =
      "{ return new Receipt(\"receipt of \" + payment.amount()); }";

  private FrameworkSamples() {}

  private static void write(Path module, String name, String... text) throws IOException {
    Path folder = Files.createDirectories(module.resolve("src/main/java/com/example"));
    Files.writeString(
        folder.resolve(name + ".java"), "package com.example;\n" + String.join("\n", text));
  }

  private static String pom(String name, String bom, String dependencies, String processors) {
    return """
    <project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <groupId>com.example</groupId>
      <artifactId>%s</artifactId>
      <version>1</version>
      <properties>
        <maven.compiler.release>21</maven.compiler.release>
        <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
      </properties>
      <dependencyManagement>
        <dependencies>
          <dependency>%s<type>pom</type><scope>import</scope></dependency>
        </dependencies>
      </dependencyManagement>
      <dependencies>%s</dependencies>
      <build>
        <pluginManagement>
          <plugins>
            <plugin><artifactId>maven-resources-plugin</artifactId><version>3.5.0</version></plugin>
            <plugin>
              <artifactId>maven-compiler-plugin</artifactId>
              <version>3.14.1</version>
              %s
            </plugin>
          </plugins>
        </pluginManagement>
      </build>
    </project>
    """
        .formatted(name, bom, dependencies, processors);
  }

  private static String coordinates(String group, String artifact, String version) {
    return "<groupId>%s</groupId><artifactId>%s</artifactId>%s"
        .formatted(
            group, artifact, version.isEmpty() ? "" : "<version>%s</version>".formatted(version));
  }

  private static String dependency(String group, String artifact) {
    return "<dependency>%s</dependency>".formatted(coordinates(group, artifact, ""));
  }

  /** An application of Spring Boot, as docs/spring.md and the README have it. */
  static void spring(NewProject project, String version) throws IOException {
    Page page = Page.of("docs/spring.md");
    String top = "# In a Spring Boot application";
    Path module =
        project.module(
            "spring",
            pom(
                "spring",
                coordinates("org.springframework.boot", "spring-boot-dependencies", version),
                page.block(top, "xml", 0)
                    + dependency("org.springframework.boot", "spring-boot-starter-kafka")
                    + dependency("org.springframework.boot", "spring-boot-starter-webmvc"),
                ""));
    Path resources = Files.createDirectories(module.resolve("src/main/resources"));
    Files.writeString(
        resources.resolve("application.properties"), page.block(top, "properties", 0));
    write(module, "Payment", "record Payment(int amount) {}");
    write(module, "Receipt", "record Receipt(String text) {}");
    write(
        module,
        "Shop",
        """
        import org.springframework.boot.SpringApplication;
        import org.springframework.boot.autoconfigure.SpringBootApplication;
        import org.springframework.context.annotation.Bean;
        import org.springframework.kafka.support.converter.JacksonJsonMessageConverter;
        import org.springframework.kafka.support.converter.RecordMessageConverter;
        import org.springframework.scheduling.annotation.EnableScheduling;

        @SpringBootApplication
        @EnableScheduling
        public class Shop {
        """,
        page.inline("@Bean RecordMessageConverter"),
        """
          public static void main(String[] args) throws Exception {
            SpringApplication.run(Shop.class, args).getBean(Reports.class).run();
            System.out.println("started");
          }
        }
        """);
    String imports =
        """
        import io.firstclaim.lock.mutex.*;
        import io.firstclaim.spring.*;
        import java.time.Duration;
        import org.springframework.kafka.annotation.KafkaListener;
        import org.springframework.scheduling.annotation.Scheduled;
        import org.springframework.stereotype.Component;
        import org.springframework.web.bind.annotation.*;
        """;
    String listener = page.block(top, "java", 0).replace(BODY, PAY);
    String handler = page.block("## Web handlers", "java", 0).replace(BODY, RECEIPT);
    String jobs = page.block("## Jobs", "java", 0).replace(BODY, "{}");
    write(module, "Payments", imports, "@Component class Payments {", listener, "}");
    write(module, "Handlers", imports, "@RestController class Handlers {", handler, "}");
    write(module, "Jobs", imports, "@Component class Jobs {", jobs, "}");
    write(module, "Reports", imports, "@Component class Reports {", reports(page), "}");
    // Those of the README have the same names, and are compiled only.
    String[] ofTheReadme = Page.of("README.md").block("### 3. ", "java", 1).split("\n\n", -1);
    write(
        module,
        "OfTheReadme",
        imports,
        "class OfTheReadme {",
        ofTheReadme[0].replace(BODY, PAY),
        "static class Handler {",
        ofTheReadme[1].replace(BODY, RECEIPT),
        "} static class Job {",
        ofTheReadme[2].replace(BODY, "{}"),
        "}}");
  }

  /** What reports, with the mutex of the page. */
  private static String reports(Page page) {
    return """
      private final Mutexes mutexes;

      Reports(Mutexes mutexes) {
        this.mutexes = mutexes;
      }

      void report(long token) {
        System.out.println("report " + token);
      }

      void run() throws InterruptedException {
    %s
      }
    """
        .formatted(page.block("## Beside listeners", "java", 0));
  }

  /**
   * An application of Micronaut, as docs/micronaut.md has it.
   *
   * @param platform the version of its bill of materials
   * @param core that of its annotation processors
   */
  static void micronaut(NewProject project, String platform, String core) throws IOException {
    Page page = Page.of("docs/micronaut.md");
    String top = "# In a Micronaut application";
    Path module =
        project.module(
            "micronaut",
            pom(
                "micronaut",
                coordinates("io.micronaut.platform", "micronaut-platform", platform),
                page.block(top, "xml", 0)
                    + dependency("io.micronaut.kafka", "micronaut-kafka")
                    + dependency("io.micronaut", "micronaut-http-server-netty")
                    + dependency("io.micronaut", "micronaut-jackson-databind"),
                "<configuration><annotationProcessorPaths><path>%s</path></annotationProcessorPaths></configuration>"
                    .formatted(coordinates("io.micronaut", "micronaut-inject-java", core))));
    write(
        module,
        "Payment",
        "@io.micronaut.core.annotation.Introspected record Payment(int amount) {}");
    write(
        module,
        "Receipt",
        "@io.micronaut.core.annotation.Introspected record Receipt(String text) {}");
    write(
        module,
        "Shop",
        """
        import io.micronaut.runtime.Micronaut;

        public class Shop {
          public static void main(String[] args) throws Exception {
            Micronaut.run(Shop.class, args).getBean(Reports.class).run();
            System.out.println("started");
          }
        }
        """);
    String imports =
        """
        import static io.micronaut.configuration.kafka.annotation.ErrorStrategyValue.*;
        import static io.micronaut.configuration.kafka.annotation.OffsetReset.*;
        import static io.micronaut.configuration.kafka.annotation.OffsetStrategy.*;

        import io.firstclaim.lock.mutex.*;
        import io.firstclaim.micronaut.*;
        import io.micronaut.configuration.kafka.annotation.*;
        import io.micronaut.context.annotation.Property;
        import io.micronaut.http.annotation.*;
        import io.micronaut.scheduling.TaskExecutors;
        import io.micronaut.scheduling.annotation.*;
        import jakarta.inject.Singleton;
        import java.time.Duration;
        """;
    String handler = page.block("## Web handlers", "java", 0).replace(BODY, RECEIPT);
    String jobs = page.block("## Jobs", "java", 0).replace(BODY, "{}");
    write(module, "Payments", imports, page.block(top, "java", 0).replace(BODY, PAY));
    write(module, "Handlers", imports, "@Controller class Handlers {", handler, "}");
    write(module, "Jobs", imports, "@Singleton class Jobs {", jobs, "}");
    write(module, "Reports", imports, "@Singleton class Reports {", reports(page), "}");
  }
}
