package io.firstclaim.templates;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What Kubernetes and the operators in it know: an object with anything else in it is refused. */
final class Model {
  private static final Map<String, Class<? extends HasMetadata>> KINDS =
      Map.of(
          "v1/Service", Service.class,
          "v1/ServiceAccount", ServiceAccount.class,
          "apps/v1/Deployment", Deployment.class,
          "policy/v1/PodDisruptionBudget", PodDisruptionBudget.class,
          "networking.k8s.io/v1/NetworkPolicy", NetworkPolicy.class,
          "monitoring.coreos.com/v1/ServiceMonitor", ServiceMonitor.class);

  /**
   * Of KEDA's ScaledObject, which has no model here: <a
   * href="https://keda.sh/docs/2.17/reference/scaledobject-spec/">its specification</a> and <a
   * href="https://keda.sh/docs/2.17/scalers/apache-kafka/">that of the trigger {@code kafka}</a>.
   */
  private static final Map<String, Set<String>> KEDA =
      Map.of(
          "/spec",
          Set.of(
              "scaleTargetRef",
              "pollingInterval",
              "cooldownPeriod",
              "initialCooldownPeriod",
              "idleReplicaCount",
              "minReplicaCount",
              "maxReplicaCount",
              "fallback",
              "advanced",
              "triggers"),
          "/spec/scaleTargetRef",
          Set.of("apiVersion", "kind", "name", "envSourceContainerName"),
          "/spec/triggers/0",
          Set.of("type", "metadata", "name", "useCachedMetrics", "authenticationRef", "metricType"),
          "/spec/triggers/0/metadata",
          Set.of(
              "bootstrapServers",
              "consumerGroup",
              "topic",
              "lagThreshold",
              "activationLagThreshold",
              "offsetResetPolicy",
              "allowIdleConsumers",
              "scaleToZeroOnInvalidOffset",
              "excludePersistentLag",
              "limitToPartitionsWithLag",
              "ensureEvenDistributionOfPartitions",
              "version",
              "partitionLimitation",
              "sasl",
              "tls",
              "unsafeSsl"));

  /** The models keep what they do not know in a map; here it is a fault. */
  private static final JsonMapper STRICT =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .annotationIntrospector(
              new JacksonAnnotationIntrospector() {
                private static final long serialVersionUID = 1L;

                @Override
                public @Nullable Boolean hasAnySetter(Annotated member) {
                  return false;
                }
              })
          .build();

  private Model() {}

  /** Refuses an object with a field, at whichever depth, that its kind does not have. */
  static void require(JsonNode object) {
    String kind = object.path("apiVersion").asText() + "/" + object.path("kind").asText();
    if (kind.equals("keda.sh/v1alpha1/ScaledObject")) {
      KEDA.forEach((place, known) -> requireFields(object, place, known));
      return;
    }
    read(object, requireNonNull(KINDS.get(kind), kind));
  }

  static <T> T read(JsonNode object, Class<T> type) {
    return STRICT.convertValue(object, type);
  }

  private static void requireFields(JsonNode object, String place, Set<String> known) {
    object
        .at(place)
        .fieldNames()
        .forEachRemaining(
            field -> {
              if (!known.contains(field)) {
                throw new IllegalArgumentException(place + "/" + field + " is not KEDA's");
              }
            });
  }
}
