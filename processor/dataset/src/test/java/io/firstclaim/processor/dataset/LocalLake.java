package io.firstclaim.processor.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.s3.S3DocumentStore;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.S3Server;
import io.firstclaim.stack.server.Unhurried;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * A bucket of a test's own on the one S3 server of this JVM, which ends with it. With the system
 * property {@code s3.endpoint} it is on that one, if it takes the access key and secret {@code
 * test}.
 */
public final class LocalLake implements AutoCloseable {
  /** The least that S3 takes for a part. */
  public static final int PART = 5 << 20;

  private static final URI SERVER =
      Optional.ofNullable(System.getProperty("s3.endpoint"))
          .map(URI::create)
          .orElseGet(() -> S3Server.start(JvmTuning.SHORT_RUN).endpoint());

  private final String bucket = "lake-" + Nonce.random();
  private final FaultProxy proxy = FaultProxy.start(SERVER);
  private final S3Client direct = client(SERVER);
  private final S3Client proxied = client(proxy.endpoint());

  /** Makes the bucket. */
  public LocalLake() {
    direct.createBucket(create -> create.bucket(bucket));
  }

  private static S3Client client(URI endpoint) {
    S3ClientBuilder builder = Dataset.configure(S3Client.builder());
    return builder
        .overrideConfiguration(
            builder.overrideConfiguration().toBuilder()
                .addExecutionInterceptor(new Unhurried())
                .build())
        .endpointOverride(endpoint)
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
        .httpClientBuilder(
            Apache5HttpClient.builder()
                .maxConnections(128)
                // The proxy does not say "go on" to who waits for it before a large body.
                .expectContinueEnabled(false))
        .build();
  }

  /** One instance's view of the dataset in the bucket, behind the proxy. */
  public Dataset dataset() {
    return dataset("");
  }

  Dataset dataset(String prefix) {
    return dataset(prefix, Duration.ofMillis(10), TimeSource.system());
  }

  Dataset dataset(Duration registryInterval) {
    return dataset("", registryInterval, TimeSource.system());
  }

  /** An instance whose clock is so much ahead. */
  Dataset datasetAhead(Duration ahead) {
    return dataset(
        "", Duration.ofMillis(10), () -> new Moment(Instant.now().plus(ahead), System.nanoTime()));
  }

  /** An instance with a clock of the test's. */
  Dataset dataset(TimeSource time) {
    return dataset("", Duration.ofMillis(10), time);
  }

  private Dataset dataset(String prefix, Duration registryInterval, TimeSource time) {
    return new Dataset(
        proxied, new DatasetSettings(bucket, prefix, PART, registryInterval), "test", time);
  }

  /** The root, as an instance updates it, straight on the server. */
  SharedRoot root(Manifests manifests) {
    return new SharedRoot(
        new RootObject(direct, bucket, ""),
        new S3DocumentStore(direct, bucket),
        manifests,
        TimeSource.system());
  }

  /** The address of the S3 server. */
  public URI endpoint() {
    return SERVER;
  }

  /** The proxy between the instances and the server. */
  public FaultProxy proxy() {
    return proxy;
  }

  public String bucket() {
    return bucket;
  }

  public S3Client client() {
    return direct;
  }

  /** A client behind the proxy. */
  S3Client proxied() {
    return proxied;
  }

  /** The keys of all objects but the registry and its locks. */
  public List<String> keys() {
    return direct.listObjectsV2Paginator(list -> list.bucket(bucket)).contents().stream()
        .map(S3Object::key)
        .filter(key -> !key.contains("metastore/"))
        .toList();
  }

  byte[] body(String key) {
    return direct.getObjectAsBytes(get -> get.bucket(bucket).key(key)).asByteArray();
  }

  void put(String key, byte[] body) {
    direct.putObject(put -> put.bucket(bucket).key(key), RequestBody.fromBytes(body));
  }

  void delete(String key) {
    direct.deleteObject(delete -> delete.bucket(bucket).key(key));
  }

  List<MultipartUpload> uploads() {
    return direct.listMultipartUploads(list -> list.bucket(bucket)).uploads();
  }

  /** The files that the root lists, each as often as it does. */
  public List<DatasetFile> listed() {
    return listed("");
  }

  List<DatasetFile> listed(String prefix) {
    List<DatasetFile> listed = new ArrayList<>();
    root(prefix)
        .partitions()
        .forEach(
            (partition, of) ->
                of.manifests()
                    .forEach(
                        one ->
                            ManifestText.parse(
                                    partition, body(prefix + Manifests.path(partition, one.name())))
                                .forEach(file -> listed.add(file.file()))));
    return listed;
  }

  /** The root that is there. */
  Root root() {
    return root("");
  }

  private Root root(String prefix) {
    return switch (RootText.parse(new String(body(prefix + RootObject.PATH), UTF_8))) {
      case RootText.Found.Current(Root root) -> root;
      case RootText.Found.VersionOne _ -> throw new AssertionError("it is of version 1");
    };
  }

  /** The paths of all manifests, whether the root names them or not. */
  List<String> manifests() {
    return direct
        .listObjectsV2Paginator(list -> list.bucket(bucket).prefix(Manifests.FOLDER))
        .contents()
        .stream()
        .map(S3Object::key)
        .toList();
  }

  @Override
  public void close() {
    direct.close();
    proxied.close();
    proxy.close();
  }

  /** Its hits are the reads of manifests from now on. */
  Rule countReadsOfManifests() {
    return proxy()
        .add(
            Rule.always(
                Match.operation("GET").and(Match.pathContains(Manifests.FOLDER)),
                new Fault.DelayRequest(Duration.ZERO)));
  }

  /** Its hits are the reads of the root from now on. */
  Rule countReadsOfTheRoot() {
    return proxy()
        .add(
            Rule.always(
                Match.operation("GET").and(Match.pathContains(RootObject.PATH)),
                new Fault.DelayRequest(Duration.ZERO)));
  }

  /** Refuses the root so many times, as if others had been faster to write it. */
  void refuseRoots(int times) {
    proxy()
        .add(
            Rule.times(
                times,
                Match.operation("PUT").and(Match.pathContains(RootObject.PATH)),
                Fault.Answer.s3(412, "PreconditionFailed")));
  }
}
