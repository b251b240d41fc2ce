package io.firstclaim.processor.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.audit.topology.OutcomesTopology;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What an operator is told to delete, once the audit has begun anew under another name. */
class LeftBehindTest {
  private static final String BEGINNING =
      "kafka-consumer-groups.sh --bootstrap-server kafka:9092 --delete --group %1$s"
          + " && kafka-topics.sh --bootstrap-server kafka:9092 --delete --topic '";

  /** The tool takes a list, and each of its names for a pattern of the whole name. */
  private static Pattern deleted(String applicationId) {
    String command = Audit.deletion(applicationId, "kafka:9092");
    String beginning = BEGINNING.formatted(applicationId);
    assertThat(command).startsWith(beginning).endsWith("'");
    return Pattern.compile(
        command.substring(beginning.length(), command.length() - 1).replace(',', '|'));
  }

  @Test
  void commandThatDeletesWhatIsLeft_takesAllOfItsOwn_andNothingOfAnotherZone() {
    Pattern deleted = deleted(OutcomesTopology.applicationId("my.orders", "eu"));

    assertThat("my.orders-audit-eu-open-changelog").matches(deleted);
    assertThat("my.orders-audit-eu-strays-repartition").matches(deleted);
    assertThat("my.orders-audit-eu-west-open-changelog").doesNotMatch(deleted);
    assertThat("my.orders-audit-eu.p3-open-changelog").doesNotMatch(deleted);
    assertThat("my_orders-audit-eu-open-changelog").doesNotMatch(deleted);
  }
}
