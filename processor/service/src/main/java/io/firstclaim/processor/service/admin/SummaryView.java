package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.processor.engine.api.OtherInstance;
import io.micronaut.core.annotation.Introspected;
import java.util.List;
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
 * @param redrives those that are not over
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
    List<RedriveView> redrives) {

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
