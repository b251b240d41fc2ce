package io.firstclaim.templates;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.SecretKeySelector;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRule;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.Endpoint;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code docker/kubernetes}: what the chart makes of its values, and what it refuses. */
class ChartTest {
  private static final Path MANIFESTS = Path.of("../kubernetes/firstclaim.yaml");
  private static final Path SETTINGS = Path.of("../../docs/settings.md");
  private static final Pattern SETTING = Pattern.compile("(?m)^\\| `(firstclaim\\.[a-z0-9.-]+)`");

  /** Seconds that an instance takes to stop, beyond firstclaim.shutdown.grace: docs/settings.md. */
  private static final int AFTER_GRACE = 9;

  /** Everything that is off by default. */
  private static final String ALL =
      """
      application: payments
      image: {digest: "sha256:%s", pullSecrets: [registry]}
      zones:
        a: {roleArn: "arn:aws:iam::123456789012:role/payments-a", settings: {KAFKA_BOOTSTRAP_SERVERS: "kafka-a:9092"}}
        b: {paused: true}
      settings: {FIRSTCLAIM_INPUT_TOPICS: "orders, refunds"}
      secretSettings: {KAFKA_SASL_JAAS_CONFIG: {secret: kafka, key: jaas}}
      secretFiles: [kafka-tls]
      tls: {secret: payments-tls, serverName: payments}
      javaOptions: -Xmx256m
      audit: {storageClass: gp3}
      monitoring: {enabled: true}
      autoscaling: {enabled: true, authentication: kafka}
      """
          .formatted("0".repeat(64));

  private static final List<JsonNode> DEFAULTS = Chart.objects("");
  private static final List<JsonNode> EVERYTHING = Chart.objects(ALL);

  private static <T> List<T> all(String kind, Class<T> type, List<JsonNode> objects) {
    return Chart.of(kind, objects).stream().map(object -> Model.read(object, type)).toList();
  }

  private static List<Deployment> deployments(List<JsonNode> objects) {
    return all("Deployment", Deployment.class, objects);
  }

  private static Stream<PodSpec> pods(List<JsonNode> objects) {
    return deployments(objects).stream().map(each -> each.getSpec().getTemplate().getSpec());
  }

  private static Container container(PodSpec pod) {
    assertThat(pod.getContainers()).hasSize(1);
    return pod.getContainers().getFirst();
  }

  private static Map<String, EnvVar> env(PodSpec pod) {
    return container(pod).getEnv().stream()
        .collect(Collectors.toMap(EnvVar::getName, each -> each));
  }

  private static EnvVar env(PodSpec pod, String name) {
    return requireNonNull(env(pod).get(name), name);
  }

  private static String zone(Deployment of) {
    return requireNonNull(of.getMetadata().getLabels().get("firstclaim.io/zone"));
  }

  private static boolean matches(Map<String, String> selector, Deployment of) {
    return of.getSpec()
        .getTemplate()
        .getMetadata()
        .getLabels()
        .entrySet()
        .containsAll(selector.entrySet());
  }

  @Test
  void everyObject_hasOnlyWhatItsKindKnows() {
    assertThat(EVERYTHING).hasSizeGreaterThan(10).allSatisfy(Model::require);
    assertThat(DEFAULTS).hasSize(9).allSatisfy(Model::require);
  }

  @Test
  void fieldThatAKindDoesNotKnow_isRefused_atAnyDepth() {
    for (String place : List.of("/spec", "/spec/template/spec/containers/0/securityContext")) {
      JsonNode deployment = Chart.of("Deployment", DEFAULTS).getFirst().deepCopy();
      ((ObjectNode) deployment.at(place)).put("readOnly", true);
      assertThatThrownBy(() -> Model.require(deployment)).hasMessageContaining("readOnly");
    }
    JsonNode scaled = Chart.of("ScaledObject", EVERYTHING).getFirst().deepCopy();
    ((ObjectNode) scaled.at("/spec/triggers/0/metadata")).put("lag", "1");
    assertThatThrownBy(() -> Model.require(scaled)).hasMessageContaining("lag");
  }

  @Test
  void everyObject_isInTheNamespaceOfTheRelease_andHasANameOfItsOwn() {
    assertThat(EVERYTHING)
        .allSatisfy(
            object ->
                assertThat(object.at("/metadata/namespace").asText()).isEqualTo(Chart.NAMESPACE))
        .map(object -> object.path("kind").asText() + object.at("/metadata/name").asText())
        .doesNotHaveDuplicates();
  }

  @Test
  void plainManifests_areWhatTheChartRendersForItsDefaults() throws IOException {
    String rendered =
        """
        # What the chart renders for its default values, in the namespace default. Written by:
        #   mvn verify -pl docker/templates -am -Dtest=ChartTest -Dit.test=none -Drender=true
        """
            + Chart.text("");
    if (Boolean.getBoolean("render")) {
      Files.writeString(MANIFESTS, rendered);
    }
    assertThat(Files.readString(MANIFESTS)).isEqualTo(rendered);
  }

  @Test
  void everySelector_meetsThePodsOfItsZone_andNoOthers() {
    List<Deployment> deployments = deployments(DEFAULTS);
    assertThat(deployments).map(ChartTest::zone).containsExactly("a", "b");
    for (Deployment each : deployments) {
      Map<String, String> own = each.getSpec().getSelector().getMatchLabels();
      Service service =
          all("Service", Service.class, DEFAULTS).stream()
              .filter(of -> of.getMetadata().getName().equals(each.getMetadata().getName()))
              .findFirst()
              .orElseThrow();
      PodDisruptionBudget budget =
          all("PodDisruptionBudget", PodDisruptionBudget.class, DEFAULTS).stream()
              .filter(of -> of.getMetadata().getName().equals(each.getMetadata().getName()))
              .findFirst()
              .orElseThrow();
      var spread = each.getSpec().getTemplate().getSpec().getTopologySpreadConstraints().getFirst();
      assertThat(spread.getTopologyKey()).isEqualTo("kubernetes.io/hostname");
      assertThat(budget.getSpec().getMaxUnavailable().getIntVal()).isEqualTo(1);
      for (Map<String, String> selector :
          List.of(
              own,
              service.getSpec().getSelector(),
              budget.getSpec().getSelector().getMatchLabels(),
              spread.getLabelSelector().getMatchLabels())) {
        assertThat(deployments.stream().filter(other -> matches(selector, other)).toList())
            .containsExactly(each);
      }
    }
    NetworkPolicy policy = networkPolicy(DEFAULTS);
    assertThat(deployments)
        .allMatch(each -> matches(policy.getSpec().getPodSelector().getMatchLabels(), each));
  }

  @Test
  void pods_runInTheirZoneOnly() {
    assertThat(pods(DEFAULTS))
        .map(
            pod ->
                pod.getAffinity()
                    .getNodeAffinity()
                    .getRequiredDuringSchedulingIgnoredDuringExecution()
                    .getNodeSelectorTerms()
                    .getFirst()
                    .getMatchExpressions()
                    .getFirst())
        .allMatch(term -> term.getKey().equals("topology.kubernetes.io/zone"))
        .map(term -> term.getValues())
        .containsExactly(List.of("eu-central-1a"), List.of("eu-central-1b"));
  }

  @Test
  void everyPortThatIsNamed_isThePods_andTheOneThatItListensAt() {
    for (int port : List.of(8080, 8443)) {
      List<JsonNode> objects = port == 8080 ? DEFAULTS : EVERYTHING;
      pods(objects)
          .forEach(
              pod -> {
                Container container = container(pod);
                assertThat(container.getPorts()).hasSize(1);
                assertThat(container.getPorts().getFirst().getName()).isEqualTo("http");
                assertThat(container.getPorts().getFirst().getContainerPort()).isEqualTo(port);
                assertThat(probes(container))
                    .allMatch(probe -> probe.getHttpGet().getPort().getStrVal().equals("http"));
                assertThat(env(pod, "FIRSTCLAIM_AUDIT_ADDRESS").getValue())
                    .isEqualTo("$(POD_IP):" + port);
              });
      assertThat(all("Service", Service.class, objects))
          .flatMap(service -> service.getSpec().getPorts())
          .allMatch(each -> each.getTargetPort().getStrVal().equals("http"))
          .allMatch(each -> each.getName().equals("http"));
      assertThat(networkPolicy(objects).getSpec().getIngress())
          .flatMap(rule -> rule.getPorts())
          .allMatch(each -> each.getPort().getStrVal().equals("http"));
    }
    assertThat(endpoint().getPort()).isEqualTo("http");
  }

  private static List<Probe> probes(Container of) {
    return List.of(of.getStartupProbe(), of.getLivenessProbe(), of.getReadinessProbe());
  }

  @Test
  void probes_askOverTls_whereTheServerHasIt() {
    assertThat(pods(DEFAULTS).flatMap(pod -> probes(container(pod)).stream()))
        .allMatch(probe -> probe.getHttpGet().getScheme().equals("HTTP"));
    assertThat(pods(EVERYTHING).flatMap(pod -> probes(container(pod)).stream()))
        .allMatch(probe -> probe.getHttpGet().getScheme().equals("HTTPS"));
    assertThat(endpoint().getScheme().toString()).isEqualToIgnoringCase("https");
    assertThat(endpoint().getTlsConfig().getServerName()).isEqualTo("payments");
    assertThat(endpoint().getTlsConfig().getInsecureSkipVerify()).isNull();
  }

  @ParameterizedTest
  @CsvSource({"0", "20", "120"})
  void pod_isKilledOnlyAfterAnInstanceMustHaveStopped(int grace) throws IOException {
    assertThat(Files.readString(SETTINGS)).contains("all is over at most " + AFTER_GRACE + " s");
    assertThat(pods(Chart.objects("shutdownGrace: " + grace)))
        .allSatisfy(
            pod -> {
              assertThat(env(pod, "FIRSTCLAIM_SHUTDOWN_GRACE").getValue()).isEqualTo(grace + "s");
              assertThat(pod.getTerminationGracePeriodSeconds())
                  .isGreaterThanOrEqualTo(grace + AFTER_GRACE + 15);
            });
  }

  @Test
  void everySetting_isKnownToTheService() throws IOException {
    Set<String> known =
        SETTING
            .matcher(Files.readString(SETTINGS))
            .results()
            .map(found -> found.group(1).toUpperCase(Locale.ROOT).replaceAll("[.-]", "_"))
            .collect(Collectors.toSet());
    assertThat(known).hasSizeGreaterThan(40);
    assertThat(
            Stream.of(DEFAULTS, EVERYTHING)
                .flatMap(ChartTest::pods)
                .flatMap(pod -> env(pod).keySet().stream())
                .filter(name -> name.startsWith("FIRSTCLAIM_")))
        .isNotEmpty()
        .isSubsetOf(known);
    JsonNode schema =
        Chart.parse(Files.readString(Chart.FOLDER.resolve("values.schema.json"))).getFirst();
    assertThat(schema.at("/definitions/setting/not/enum").valueStream().map(JsonNode::asText))
        .filteredOn(name -> name.startsWith("FIRSTCLAIM_"))
        .isNotEmpty()
        .isSubsetOf(known);
  }

  @Test
  void instance_isCalledLikeItsPod_andIsAskedAtItsAddress() {
    assertThat(pods(DEFAULTS))
        .allSatisfy(
            pod -> {
              assertThat(env(pod, "FIRSTCLAIM_INSTANCE").getValue()).isEqualTo("$(POD_NAME)");
              assertThat(env(pod, "FIRSTCLAIM_AUDIT_ADDRESS").getValue()).startsWith("$(POD_IP):");
              assertThat(env(pod, "POD_NAME").getValueFrom().getFieldRef().getFieldPath())
                  .isEqualTo("metadata.name");
              assertThat(env(pod, "POD_IP").getValueFrom().getFieldRef().getFieldPath())
                  .isEqualTo("status.podIP");
              // A variable is put in the place of $(NAME) only where it comes before.
              assertThat(container(pod).getEnv())
                  .map(EnvVar::getName)
                  .containsSubsequence("POD_NAME", "FIRSTCLAIM_INSTANCE")
                  .containsSubsequence("POD_IP", "FIRSTCLAIM_AUDIT_ADDRESS")
                  .doesNotHaveDuplicates();
            });
  }

  @Test
  void zones_areStatic_andEachKnowsAll_andHasItsOwnSettings() {
    List<PodSpec> pods = pods(EVERYTHING).toList();
    assertThat(pods).map(pod -> env(pod, "FIRSTCLAIM_ZONE").getValue()).containsExactly("a", "b");
    assertThat(pods).map(pod -> env(pod, "FIRSTCLAIM_ZONES").getValue()).containsOnly("a,b");
    assertThat(pods)
        .map(pod -> env(pod, "KAFKA_BOOTSTRAP_SERVERS").getValue())
        .containsExactly("kafka-a:9092", "kafka:9092");
    assertThat(pods)
        .map(pod -> env(pod, "FIRSTCLAIM_APPLICATION").getValue())
        .containsOnly("payments");
  }

  @Test
  void pod_hasNoRightsThatItDoesNotNeed() {
    assertThat(Stream.of(DEFAULTS, EVERYTHING).flatMap(ChartTest::pods))
        .allSatisfy(
            pod -> {
              var security = pod.getSecurityContext();
              assertThat(security.getRunAsNonRoot()).isTrue();
              assertThat(security.getRunAsUser()).isEqualTo(10001);
              assertThat(security.getFsGroup()).isEqualTo(10001);
              assertThat(security.getSeccompProfile().getType()).isEqualTo("RuntimeDefault");
              var own = container(pod).getSecurityContext();
              assertThat(own.getReadOnlyRootFilesystem()).isTrue();
              assertThat(own.getAllowPrivilegeEscalation()).isFalse();
              assertThat(own.getCapabilities().getDrop()).containsExactly("ALL");
              assertThat(own.getCapabilities().getAdd()).isEmpty();
              assertThat(pod.getAutomountServiceAccountToken()).isFalse();
              assertThat(pod.getEnableServiceLinks()).isFalse();
              assertThat(container(pod).getResources().getLimits()).containsKey("memory");
            });
  }

  @Test
  void audit_hasAVolumeOfEachPodsOwn_andCodeMayBeLoadedFromTmp() {
    assertThat(pods(DEFAULTS))
        .allSatisfy(
            pod -> {
              assertThat(
                      mounted(pod, env(pod, "FIRSTCLAIM_AUDIT_DIRECTORY").getValue())
                          .getEphemeral()
                          .getVolumeClaimTemplate()
                          .getSpec()
                          .getAccessModes())
                  .containsExactly("ReadWriteOnce");
              assertThat(mounted(pod, "/tmp").getEmptyDir()).isNotNull();
              assertThat(pod.getVolumes()).allMatch(volume -> volume.getHostPath() == null);
            });
    assertThat(pods(EVERYTHING))
        .allSatisfy(
            pod ->
                assertThat(
                        mounted(pod, "/audit")
                            .getEphemeral()
                            .getVolumeClaimTemplate()
                            .getSpec()
                            .getStorageClassName())
                    .isEqualTo("gp3"));
  }

  private static Volume mounted(PodSpec pod, String path) {
    String name =
        container(pod).getVolumeMounts().stream()
            .filter(mount -> mount.getMountPath().equals(path))
            .findFirst()
            .orElseThrow()
            .getName();
    return pod.getVolumes().stream()
        .filter(volume -> volume.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void tokensAndKeys_areFromSecrets_thatThePodsGroupAloneMayRead() {
    PodSpec pod = pods(EVERYTHING).findFirst().orElseThrow();
    for (String path : List.of("/tokens", "/tls", "/secrets/kafka-tls")) {
      assertThat(mounted(pod, path).getSecret().getDefaultMode()).isEqualTo(0440);
      assertThat(container(pod).getVolumeMounts())
          .filteredOn(mount -> mount.getMountPath().equals(path))
          .allMatch(mount -> mount.getReadOnly());
    }
    for (String setting : List.of("FIRSTCLAIM_ADMIN_TOKEN_FILE", "FIRSTCLAIM_AUDIT_TOKEN_FILE")) {
      Path file = Path.of(env(pod, setting).getValue());
      assertThat(mounted(pod, requireNonNull(file.getParent()).toString()).getSecret().getItems())
          .extracting(item -> item.getPath())
          .contains(file.getFileName().toString());
    }
    assertThat(env(pod, "KAFKA_SASL_JAAS_CONFIG").getValueFrom().getSecretKeyRef().getName())
        .isEqualTo("kafka");
    // The key of whoever reads metrics is Prometheus' and not the pods' to have.
    assertThat(mounted(pod, "/tokens").getSecret().getItems())
        .extracting(item -> item.getKey())
        .containsExactlyInAnyOrder("token-file", "peers");
  }

  /** cert-manager is told where the password is, and does not put it beside the keystore. */
  @Test
  void keystoresPassword_isInASecretOfItsOwn_orBesideTheKeystore() {
    assertThat(passwordOf(EVERYTHING))
        .returns("payments-tls", SecretKeySelector::getName)
        .returns("password", SecretKeySelector::getKey);
    assertThat(
            passwordOf(
                Chart.objects("tls: {secret: tls, password: {secret: keystore, key: \"1\"}}")))
        .returns("keystore", SecretKeySelector::getName)
        .returns("1", SecretKeySelector::getKey);
  }

  private static SecretKeySelector passwordOf(List<JsonNode> objects) {
    PodSpec pod = pods(objects).findFirst().orElseThrow();
    return env(pod, "MICRONAUT_SERVER_SSL_KEY_STORE_PASSWORD").getValueFrom().getSecretKeyRef();
  }

  private static NetworkPolicy networkPolicy(List<JsonNode> objects) {
    return all("NetworkPolicy", NetworkPolicy.class, objects).getFirst();
  }

  @Test
  void network_letsInPeersAndPrometheus_andOutToWhatIsNeeded() {
    var spec = networkPolicy(DEFAULTS).getSpec();
    assertThat(spec.getPolicyTypes()).containsExactlyInAnyOrder("Ingress", "Egress");
    assertThat(spec.getIngress()).hasSize(1);
    var from = spec.getIngress().getFirst().getFrom();
    assertThat(from).hasSize(2);
    assertThat(deployments(DEFAULTS))
        .allMatch(each -> matches(from.getFirst().getPodSelector().getMatchLabels(), each));
    assertThat(from.get(1).getNamespaceSelector().getMatchLabels())
        .containsEntry("kubernetes.io/metadata.name", "monitoring");

    // Everything that is open to all addresses: AWS, and Kafka's port, whose place is the reader's
    // to say.
    assertThat(spec.getEgress())
        .filteredOn(rule -> rule.getTo().isEmpty())
        .flatMap(NetworkPolicyEgressRule::getPorts)
        .map(port -> port.getPort().getIntVal())
        .containsExactly(443, 9092);
    assertThat(spec.getEgress())
        .flatMap(NetworkPolicyEgressRule::getTo)
        .filteredOn(to -> to.getIpBlock() != null)
        .map(to -> to.getIpBlock().getCidr())
        .containsExactly("169.254.170.23/32", "fd00:ec2::23/128");
    assertThat(spec.getEgress())
        .filteredOn(
            rule ->
                rule.getPorts().stream()
                    .anyMatch(port -> Integer.valueOf(53).equals(port.getPort().getIntVal())))
        .hasSize(1);
    assertThat(Chart.of("NetworkPolicy", Chart.objects("networkPolicy: {enabled: false}")))
        .isEmpty();
  }

  @Test
  void zone_hasARole_byItsServiceAccount() {
    List<ServiceAccount> accounts = all("ServiceAccount", ServiceAccount.class, EVERYTHING);
    assertThat(pods(EVERYTHING).map(PodSpec::getServiceAccountName))
        .containsExactlyElementsOf(
            accounts.stream().map(account -> account.getMetadata().getName()).toList())
        .containsExactly("firstclaim-a", "firstclaim-b");
    assertThat(accounts.getFirst().getMetadata().getAnnotations())
        .containsEntry("eks.amazonaws.com/role-arn", "arn:aws:iam::123456789012:role/payments-a");
    // Without it, EKS Pod Identity associates the account by its name.
    assertThat(accounts.get(1).getMetadata().getAnnotations()).isNullOrEmpty();
  }

  private static Endpoint endpoint() {
    ServiceMonitor monitor = all("ServiceMonitor", ServiceMonitor.class, EVERYTHING).getFirst();
    return monitor.getSpec().getEndpoints().getFirst();
  }

  @Test
  void prometheus_readsEveryZone_withAReadersToken_andSaysWhichZoneItIs() {
    ServiceMonitor monitor = all("ServiceMonitor", ServiceMonitor.class, EVERYTHING).getFirst();
    assertThat(all("Service", Service.class, EVERYTHING))
        .hasSize(2)
        .allMatch(
            service ->
                service
                    .getMetadata()
                    .getLabels()
                    .entrySet()
                    .containsAll(monitor.getSpec().getSelector().getMatchLabels().entrySet()));
    assertThat(endpoint().getPath()).isEqualTo("/prometheus");
    assertThat(endpoint().getAuthorization().getCredentials().getKey()).isEqualTo("prometheus");
    assertThat(endpoint().getRelabelings())
        .anyMatch(
            to ->
                "zone".equals(to.getTargetLabel())
                    && to.getSourceLabels()
                        .equals(List.of("__meta_kubernetes_pod_label_firstclaim_io_zone")))
        .anyMatch(
            to -> "job".equals(to.getTargetLabel()) && "firstclaim".equals(to.getReplacement()));
    assertThat(Chart.of("ServiceMonitor", DEFAULTS)).isEmpty();
  }

  @Test
  void scaling_goesByEachZonesGroup_upToThePartitions_andNeverToNone() {
    List<JsonNode> scaled = Chart.of("ScaledObject", EVERYTHING);
    assertThat(scaled)
        .map(each -> each.at("/spec/scaleTargetRef/name").asText())
        .containsExactlyElementsOf(
            deployments(EVERYTHING).stream().map(each -> each.getMetadata().getName()).toList());
    assertThat(deployments(EVERYTHING)).allMatch(each -> each.getSpec().getReplicas() == null);
    assertThat(scaled)
        .allSatisfy(
            each -> {
              assertThat(each.at("/spec/minReplicaCount").asInt()).isEqualTo(1);
              assertThat(each.at("/spec/maxReplicaCount").asInt()).isEqualTo(6);
              assertThat(each.at("/spec/idleReplicaCount").isMissingNode()).isTrue();
              assertThat(each.at("/spec/triggers").valueStream())
                  .map(trigger -> trigger.at("/metadata/topic").asText())
                  .containsExactly("orders", "refunds");
              assertThat(each.at("/spec/triggers").valueStream())
                  .allMatch(
                      trigger ->
                          trigger.at("/metadata/excludePersistentLag").asText().equals("true"));
              assertThat(each.at("/spec/triggers/0/authenticationRef/name").asText())
                  .isEqualTo("kafka");
            });
    assertThat(scaled)
        .map(each -> each.at("/spec/triggers/0/metadata/consumerGroup").asText())
        .containsExactly("payments-a", "payments-b");
    assertThat(scaled)
        .map(each -> each.at("/spec/triggers/0/metadata/bootstrapServers").asText())
        .containsExactly("kafka-a:9092", "kafka:9092");
    assertThat(
            Chart.of(
                "ScaledObject",
                Chart.objects(
                    "{autoscaling: {enabled: true}, settings: {FIRSTCLAIM_MODE: shadow}}")))
        .map(each -> each.at("/spec/triggers/0/metadata/consumerGroup").asText())
        .containsExactly("firstclaim-a-shadow", "firstclaim-b-shadow");
  }

  @Test
  void zoneThatIsPaused_staysAsItIs_andTheOtherIsRolledOut() {
    assertThat(deployments(EVERYTHING))
        .map(each -> each.getSpec().getPaused())
        .containsExactly(null, true);
    assertThat(deployments(DEFAULTS))
        .allSatisfy(
            each -> {
              var rolling = each.getSpec().getStrategy().getRollingUpdate();
              assertThat(rolling.getMaxUnavailable().getIntVal()).isZero();
            });
    assertThat(deployments(Chart.objects("strategy: Recreate")))
        .allSatisfy(
            each -> {
              assertThat(each.getSpec().getStrategy().getType()).isEqualTo("Recreate");
              // Kubernetes refuses the two together.
              assertThat(each.getSpec().getStrategy().getRollingUpdate()).isNull();
            });
  }

  @Test
  void zone_canBeAddedAndTakenAway() {
    List<JsonNode> objects = Chart.objects("zones: {a: null, c: {nodes: [eu-central-1c]}}");
    assertThat(deployments(objects)).map(ChartTest::zone).containsExactly("b", "c");
    assertThat(pods(objects))
        .allMatch(pod -> env(pod, "FIRSTCLAIM_ZONES").getValue().equals("b,c"));
  }

  /** Kubernetes takes texts alone, and to YAML {@code 1} is a number and {@code on} is true. */
  @Test
  void namesThatYamlTakesForSomethingElse_areTexts() {
    List<JsonNode> objects =
        Chart.objects(
            "1",
            ALL.replace("zones:\n", "zones:\n  \"1\": {nodes: [x]}\n  \"on\": {nodes: [x]}\n"));
    for (String name : List.of("firstclaim.io/zone", "app.kubernetes.io/instance", "name")) {
      assertThat(objects)
          .flatMap(object -> object.findValues(name))
          .as(name)
          .isNotEmpty()
          .allMatch(JsonNode::isTextual);
    }
    assertThat(deployments(objects)).map(ChartTest::zone).containsExactly("1", "a", "b", "on");
    assertThat(deployments(objects))
        .map(each -> each.getMetadata().getName())
        .containsExactly("1-1", "1-a", "1-b", "1-on");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "image: {tag: latest} | tag",
        "image: {digest: latest} | digest",
        "zones: {a: {nodes: []}} | nodes",
        "zones: {Zone A: {nodes: [x]}} | Zone A",
        "zones: {a: {roleArn: payments}} | roleArn",
        "settings: {FIRSTCLAIM_ZONE: a} | FIRSTCLAIM_ZONE",
        "settings: {FIRSTCLAIM_RETRY_MAX_ATTEMPTS: 5} | FIRSTCLAIM_RETRY_MAX_ATTEMPTS",
        "settings: {KAFKA_BOOTSTRAP_SERVERS: null} | KAFKA_BOOTSTRAP_SERVERS",
        "zones: {b: {settings: {firstclaim.zone: c}}} | firstclaim.zone",
        "secretSettings: {KAFKA_SASL_JAAS_CONFIG: secret} | KAFKA_SASL_JAAS_CONFIG",
        "tokens: {secret: ''} | secret",
        "tls: {secret: payments-tls, serverName: ''}, monitoring: {enabled: true} | tls.serverName",
        "tls: {password: {key: ''}} | key",
        "autoscaling: {enabled: true, min: 0} | min",
        "shutdownGrace: 20s | shutdownGrace",
        "strategy: OnDelete | strategy",
        "resources: {limits: null} | limits",
        "replicas: 3 | replicas"
      })
  void valueThatWouldBeWrong_isRefusedByItsName(String values, String name) {
    assertThatThrownBy(() -> Chart.text("{" + values + "}")).hasMessageContaining(name);
  }
}
