package io.firstclaim.processor.engine.api;

import static io.firstclaim.processor.engine.api.EngineCatalog.DEAD_LETTER_TOPIC;
import static io.firstclaim.processor.engine.api.EngineCatalog.MODE;
import static io.firstclaim.processor.engine.api.EngineCatalog.OUTCOMES_TOPIC;
import static io.firstclaim.processor.engine.api.EngineCatalog.TOPICS;

import io.firstclaim.processor.engine.setting.Setting;
import io.firstclaim.processor.engine.setting.Settings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What each topic is used for. One has one use: what is written for a record must not come back as
 * a record, and readers of one topic do not expect what belongs in another. Not thread-safe.
 */
public final class TopicUses {
  private final Settings given;
  private final Map<String, String> uses = new HashMap<>();

  /** The uses that the engine makes of topics. Those that are in conflict are noted as wrong. */
  public TopicUses(Settings given) {
    this.given = given;
    List<String> inputs = given.find(TOPICS).orElse(List.of());
    inputs.forEach(input -> uses.put(input, "one of " + TOPICS));
    given
        .find(DEAD_LETTER_TOPIC)
        .ifPresent(
            one ->
                inputs.stream()
                    .map(input -> EngineSettings.deadLetterTopicOf(one, input))
                    .distinct()
                    .forEach(topic -> add(DEAD_LETTER_TOPIC, topic)));
    if (given.areRight(OUTCOMES_TOPIC, MODE)) {
      EngineSettings.outcomesTopicOf(given).ifPresent(topic -> add(OUTCOMES_TOPIC, topic));
    }
  }

  /**
   * Adds a use.
   *
   * @param setting that names the topic, and is wrong if the topic has a use already
   */
  public void add(Setting<?> setting, String topic) {
    String use = uses.put(topic, setting.name());
    if (use != null) {
      given.wrong(setting, topic, "it is %s; give another topic".formatted(use));
    }
  }
}
