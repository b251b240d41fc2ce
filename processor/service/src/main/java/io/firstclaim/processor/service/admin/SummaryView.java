package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.processor.engine.api.OtherInstance;
import io.firstclaim.processor.service.acts.ActMessage;
import io.micronaut.core.annotation.Introspected;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What both zones do now.
 *
 * @param at by this instance's clock
 * @param caller who asks
 * @param topics the input topics
 * @param zones all zones, as far as they are configured
 * @param instance this instance
 * @param others the other instances of this zone, as far as they answer
 * @param heard all instances of the application but this one, of whichever zone, by what they
 *     announce of themselves; null if that is not known
 * @param overview what became of records in all zones; null if that cannot be said now
 * @param overviewFault why not
 * @param redrives those that are not over; null while the topic of acts has not been read, as
 *     {@code actsFault} of the instance says
 * @param pauses of zones and of the application, which outlive restarts; null as above
 */
@Introspected
@JsonInclude(JsonInclude.Include.ALWAYS)
record SummaryView(
    String application,
    String at,
    CallerView caller,
    List<String> topics,
    List<String> zones,
    InstanceView instance,
    List<InstanceView> others,
    @Nullable List<HeardView> heard,
    @Nullable Overview overview,
    @Nullable String overviewFault,
    @Nullable List<RedriveView> redrives,
    @Nullable List<PauseView> pauses) {

  /**
   * A zone, or the whole application, takes no records.
   *
   * @param scope {@code zone} or {@code application}
   * @param zone which; null if all are meant
   * @param by who said so
   * @param reason why
   * @param at when, in ISO 8601
   */
  @Introspected
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record PauseView(String scope, @Nullable String zone, String by, String reason, String at) {
    static PauseView of(ActMessage.Pause pause) {
      return new PauseView(
          pause.scope().name().toLowerCase(Locale.ROOT),
          pause.scope() == ActMessage.Scope.ZONE ? pause.zone() : null,
          pause.by(),
          pause.reason(),
          pause.at());
    }
  }

  /**
   * Who asks.
   *
   * @param mayChange whether as an operator
   */
  @Introspected
  record CallerView(String name, boolean mayChange) {}

  /**
   * An instance that was heard of.
   *
   * @param silentSeconds for how long it has said nothing, at most; one that lives says something
   *     every five seconds, and one that has been silent for half a minute is left out
   */
  @Introspected
  record HeardView(String zone, String name, long silentSeconds) {
    static HeardView of(OtherInstance other) {
      return new HeardView(other.zone(), other.instance(), other.silence().toSeconds());
    }
  }
}
