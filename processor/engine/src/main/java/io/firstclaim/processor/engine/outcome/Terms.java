package io.firstclaim.processor.engine.outcome;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.processor.engine.api.EngineCatalog;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import io.firstclaim.processor.engine.api.ResourceSource;
import io.firstclaim.processor.engine.setting.Setting;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.header.Headers;

/**
 * What an instance processes records by and must share with all others of its application: its
 * store and its namespace, as they are, and digests of settings. What an instance does not say, as
 * older versions do not, is not known, and differs from nothing. Immutable.
 *
 * @param values by the names of the settings, and {@link #STORE}
 */
record Terms(Map<String, String> values) {
  /** The name of what is no setting by itself: name, Region and endpoint make a store. */
  static final String STORE = "the store";

  private static final String NAMESPACE = EngineCatalog.NAMESPACE.name();

  /** Settings that have records handled twice, or skipped, where they differ. */
  private static final List<String> OF_RECORDS =
      List.of(
          EngineCatalog.RECORD_ID.name(),
          EngineCatalog.RESOURCES.name(),
          EngineCatalog.ON_MISMATCH.name());

  /** What no two instances that take records may differ in. */
  static final List<String> BINDING =
      Stream.concat(Stream.of(STORE, NAMESPACE), OF_RECORDS.stream()).toList();

  /** Settings that must be alike in the end, but have to be changeable while instances run. */
  static final List<String> ADVISED =
      List.of(EngineCatalog.LEASE.name(), EngineCatalog.RETENTION.name());

  private static final int DIGITS = 16;

  Terms {
    values = Map.copyOf(values);
  }

  /** The terms of an instance with these settings and this store. */
  static Terms of(EngineSettings settings, String store) {
    Map<String, String> values = new HashMap<>();
    written(settings).forEach((name, value) -> values.put(name, digest(value)));
    values.put(STORE, store);
    values.put(NAMESPACE, settings.claim().store().namespace());
    return new Terms(values);
  }

  /** The settings as they are written, for people and as what digests are made of. */
  static Map<String, String> written(EngineSettings settings) {
    EngineSettings.Claiming claim = settings.claim();
    // All of them contribute, in whichever order.
    List<ResourceSource> resources =
        claim.resources().stream().sorted(Comparator.comparing(String::valueOf)).toList();
    Map<String, String> written = new HashMap<>();
    written.put(NAMESPACE, claim.store().namespace());
    put(written, EngineCatalog.RECORD_ID, settings.input().recordId());
    put(written, EngineCatalog.RESOURCES, resources);
    put(written, EngineCatalog.ON_MISMATCH, claim.onMismatch());
    put(written, EngineCatalog.LEASE, claim.store().lease());
    put(written, EngineCatalog.RETENTION, claim.store().retention());
    return written;
  }

  private static <T> void put(Map<String, String> written, Setting<T> setting, T value) {
    written.put(setting.name(), setting.text(value));
  }

  private static String digest(String value) {
    return Fingerprint.of(value.getBytes(UTF_8)).toString().substring(0, DIGITS);
  }

  /** The terms in a message from another instance. */
  static Terms of(Headers message, Presence presence) {
    Map<String, String> values = new HashMap<>();
    for (String name : Stream.concat(OF_RECORDS.stream(), ADVISED.stream()).toList()) {
      String digest = presence.settings().get(name);
      // Else it is no digest: anybody may write to a topic.
      if (digest != null && digest.length() == DIGITS) {
        values.put(name, digest);
      }
    }
    String namespace = Origin.text(message, OutcomeMessage.NAMESPACE);
    if (namespace != null) {
      values.put(NAMESPACE, namespace);
    }
    values.put(STORE, Origin.storeOf(message));
    return new Terms(values);
  }

  /** The terms of these names alone, as far as they are known. */
  Map<String, String> of(List<String> names) {
    Map<String, String> some = new HashMap<>(values);
    some.keySet().retainAll(names);
    return some;
  }

  /** What a presence says of the terms: the rest is in the message's headers. */
  Map<String, String> digests() {
    Map<String, String> digests = new HashMap<>(values);
    digests.keySet().removeAll(List.of(STORE, NAMESPACE));
    return digests;
  }

  /** Whether both are known to be alike in this. */
  boolean isAlike(String what, Terms other) {
    String value = values.get(what);
    return value != null && value.equals(other.values.get(what));
  }

  /** Whether both are known to differ in this. */
  boolean differs(String what, Terms other) {
    return values.containsKey(what) && other.values.containsKey(what) && !isAlike(what, other);
  }

  /** In which of these both are known to differ. */
  List<String> differing(List<String> of, Terms other) {
    return of.stream().filter(what -> differs(what, other)).toList();
  }
}
