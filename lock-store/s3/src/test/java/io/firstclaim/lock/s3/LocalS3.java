package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.AwsPlace;
import io.firstclaim.stack.server.AwsPrefix;
import io.firstclaim.stack.server.S3Server;
import io.firstclaim.stack.server.Unhurried;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;

/**
 * One S3 server for all tests of this JVM, with one bucket. It ends with the JVM. With the system
 * property {@code s3.endpoint} it is that one, if it takes the access key and secret {@code test};
 * with {@code s3.versioned=true} its buckets are versioned, which the server here cannot do, and it
 * gets one request after the other. With {@code aws.bucket} the tests of {@code -Paws} use a prefix
 * of that bucket in AWS, and empty it as the JVM ends.
 */
final class LocalS3 {
  private static final Optional<AwsPrefix> IN_AWS =
      AwsPlace.given(AwsPrefix.PROPERTY).map(LocalS3::inAws);

  static final String BUCKET = IN_AWS.map(AwsPrefix::bucket).orElse("claims");
  static final String PREFIX = IN_AWS.map(AwsPrefix::prefix).orElse("claims/");

  private static final Optional<URI> FOREIGN =
      Optional.ofNullable(System.getProperty("s3.endpoint")).map(URI::create);
  private static final boolean VERSIONED = Boolean.getBoolean("s3.versioned");
  private static final StoreTime TIME = new StoreTime();
  private static final S3Client CLIENT =
      unhurried(timed(S3Bucket.configure(common(), Duration.ofSeconds(30)))).build();

  static {
    if (IN_AWS.isEmpty()) {
      createBucket(BUCKET);
    }
  }

  /** Holds the server, which is not started where the tests use a bucket in AWS. */
  private static final class Running {
    static final URI ENDPOINT = start();
  }

  private LocalS3() {}

  private static URI start() {
    if (FOREIGN.isPresent() && !VERSIONED) {
      return FOREIGN.get();
    }
    FaultProxy proxy =
        FaultProxy.start(FOREIGN.orElseGet(() -> S3Server.start(JvmTuning.SHORT_RUN).endpoint()));
    if (FOREIGN.isPresent()) {
      proxy.takeTurns(); // Ceph keeps no condition in a race where it keeps versions
    } else {
      proxy.makeETagsOpaque(); // as KMS makes them, so that nothing takes them for an MD5
    }
    return proxy.endpoint();
  }

  /** Whether it is a server of somebody's own, given as {@code s3.endpoint}. */
  static boolean isForeign() {
    return FOREIGN.isPresent();
  }

  private static AwsPrefix inAws(String bucket) {
    AwsPrefix prefix = AwsPrefix.open(bucket);
    Runtime.getRuntime().addShutdownHook(new Thread(prefix::close));
    return prefix;
  }

  static URI endpoint() {
    return Running.ENDPOINT;
  }

  private static S3ClientBuilder common() {
    return IN_AWS.isPresent() ? AwsPrefix.builder() : builder(endpoint());
  }

  static void createBucket(String name) {
    CLIENT.createBucket(create -> create.bucket(name));
    if (VERSIONED) {
      CLIENT.putBucketVersioning(
          put ->
              put.bucket(name)
                  .versioningConfiguration(with -> with.status(BucketVersioningStatus.ENABLED)));
    }
  }

  /** The tests' common client, straight to the server. */
  static S3Client client() {
    return CLIENT;
  }

  /** From now on the server lives in this time. */
  static void live(ManualTime now) {
    TIME.live(now);
  }

  static S3Bucket bucket(S3Client client) {
    return new S3Bucket(client, BUCKET, PREFIX);
  }

  /** A store on this machine, of a test that lives in this time. */
  static S3ClaimStore store(ClaimSettings settings, TimeSource machine, ManualTime now) {
    return store(CLIENT, settings, machine, now);
  }

  static S3ClaimStore store(
      S3Client client, ClaimSettings settings, TimeSource machine, ManualTime now) {
    TIME.live(now);
    return new S3ClaimStore(bucket(client), settings, machine, StoreListener.NONE);
  }

  static String newName() {
    return "bucket-" + Nonce.random();
  }

  /** A client with retries and limits of the SDK's own, that finds buckets in the path. */
  static S3ClientBuilder builder(URI endpoint) {
    return S3Client.builder()
        .endpointOverride(endpoint)
        .forcePathStyle(true)
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
        .httpClientBuilder(Apache5HttpClient.builder().maxConnections(64));
  }

  /** The same, its server living in the test's time. */
  static S3ClientBuilder timed(S3ClientBuilder builder) {
    return intercepted(builder, TIME);
  }

  /** The same, without the SDK's own retries. */
  static S3ClientBuilder notRetrying(S3ClientBuilder builder) {
    return builder.overrideConfiguration(
        builder.overrideConfiguration().toBuilder()
            .retryStrategy(DefaultRetryStrategy.doNotRetry())
            .build());
  }

  /** The same, whose requests have the time that they take. */
  static S3ClientBuilder unhurried(S3ClientBuilder builder) {
    return intercepted(builder, new Unhurried());
  }

  /** The same, through a proxy that may lose answers: a try waits some seconds for one then. */
  static S3ClientBuilder patient(S3ClientBuilder builder, FaultProxy proxy) {
    return intercepted(builder, Unhurried.where(proxy::isFaulty));
  }

  static S3ClientBuilder intercepted(S3ClientBuilder builder, ExecutionInterceptor interceptor) {
    return builder.overrideConfiguration(
        builder.overrideConfiguration().toBuilder().addExecutionInterceptor(interceptor).build());
  }
}
