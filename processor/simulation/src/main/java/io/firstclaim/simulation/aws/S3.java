package io.firstclaim.simulation.aws;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * S3: its objects, its conflicts, its asking to slow down, its own faults, and its machines, whose
 * clocks differ: each answer and each write has the time of another. The product's own SDK asks it.
 */
public final class S3 implements Service {
  private static final Duration AT_ONCE = Duration.ofMillis(10);

  /** The second step of a delete, on a store that has two. */
  private static final Duration SECOND_STEP = Duration.ofMillis(30);

  private final World world;
  private final Wire wire;
  private final StoreEvents listener;
  private final S3InMemory objects;
  private final Duration mostSkew;
  private final Map<String, Instant> written = new HashMap<>();
  private final Map<String, Duration> lastTouched = new HashMap<>();
  private double throttled;
  private @Nullable Machine asking;
  private List<Map<String, String>> taken = new ArrayList<>();

  /**
   * Without buckets, and all is well.
   *
   * @param mostSkew how much any two of its machines' clocks differ at most
   * @param isTwoStep whether a conditional delete compares first and deletes then
   */
  public S3(World world, Wire wire, StoreEvents listener, Duration mostSkew, boolean isTwoStep) {
    this.world = world;
    this.wire = wire;
    this.listener = listener;
    this.mostSkew = mostSkew;
    this.objects =
        new S3InMemory(
            this::wrote, isTwoStep ? step -> world.after(world.upTo(SECOND_STEP), step) : null);
  }

  /** Makes a bucket. */
  public void create(String bucket, boolean versioned) {
    objects.create(bucket, versioned);
  }

  /** How many of a hundred requests are to slow down, or meet with a fault of S3's own. */
  public void setThrottled(double share) {
    throttled = share;
  }

  private void wrote(String key, byte[] before, byte[] after) {
    Instant earlier = written.getOrDefault(key, Instant.EPOCH);
    written.put(key, world.now());
    Map<String, String> now = MarkerFields.of(key, after, world.now());
    listener.wrote(
        asking == null ? "the store" : asking.name(), MarkerFields.of(key, before, earlier), now);
    taken.add(now);
  }

  /** A client on a machine, made as the product makes its own but for the network beneath. */
  public S3Client client(Machine machine, ClaimSettings settings) {
    return S3Bucket.configure(
            S3Client.builder()
                .region(Region.EU_CENTRAL_1)
                .endpointOverride(URI.create("http://s3"))
                .credentialsProvider(
                    StaticCredentialsProvider.create(
                        AwsBasicCredentials.create("simulated", "simulated")))
                .httpClient(new SimulatedHttp(machine, wire, this))
                .overrideConfiguration(
                    override ->
                        override.scheduledExecutorService(
                            Executors.newScheduledThreadPool(1, Thread.ofVirtual().factory()))),
            settings)
        .build();
  }

  private Instant timeOfAMachine() {
    return world.now().plus(world.upTo(mostSkew)).minus(mostSkew.dividedBy(2));
  }

  @Override
  public Answer answer(Wire.Request wired) {
    S3InMemory.Request request =
        request(wired.method(), wired.path(), wired.headers(), wired.body());
    Instant date = timeOfAMachine();
    boolean isObject = request.path().indexOf('/', 1) > 0;
    boolean isWrite = isObject && !request.method().equals("GET");
    boolean isConditional =
        request.header("if-match") != null || request.header("if-none-match") != null;
    if (isWrite && !isConditional) {
      listener.wroteWithoutCondition(wired.from().name(), request.method() + request.path());
    }
    if (world.chance(throttled)) {
      listener.fault("slow down");
      return S3InMemory.refused(503, "SlowDown", date);
    }
    if (isWrite && isConditional && isInConflict(request.path())) {
      listener.reached("conflicts");
      return S3InMemory.refused(409, "ConditionalRequestConflict", date);
    }
    asking = wired.from();
    taken = new ArrayList<>();
    Answer answer;
    try {
      answer = objects.answer(request, date, timeOfAMachine());
    } finally {
      asking = null;
    }
    List<Map<String, String>> took = taken;
    if (isWrite && world.chance(throttled / 2)) {
      listener.fault("internal error after the write");
      listener.answerLost(wired.from().name(), took);
      return S3InMemory.refused(500, "InternalError", date);
    }
    return answer.missedBy(() -> listener.answerLost(wired.from().name(), took));
  }

  /** Two requests for one object at once: the second may be told of the first, and no more. */
  private boolean isInConflict(String path) {
    Duration now = world.elapsed();
    Duration last = lastTouched.put(path, now);
    return last != null && now.minus(last).compareTo(AT_ONCE) < 0 && world.chance(0.2);
  }

  /** The request as S3 reads it. */
  static S3InMemory.Request request(
      String method, String path, Map<String, List<String>> headers, byte[] body) {
    URI uri = URI.create(path);
    Map<String, String> read = new HashMap<>();
    for (Map.Entry<String, List<String>> each : headers.entrySet()) {
      read.put(each.getKey().toLowerCase(Locale.ROOT), each.getValue().getFirst());
    }
    return new S3InMemory.Request(method, uri.getPath(), query(uri), read, body);
  }

  private static Map<String, String> query(URI uri) {
    Map<String, String> query = new HashMap<>();
    String raw = uri.getRawQuery();
    if (raw != null) {
      for (String part : raw.split("&", -1)) {
        int equals = part.indexOf('=');
        query.put(
            equals < 0 ? part : part.substring(0, equals),
            equals < 0
                ? ""
                : URLDecoder.decode(part.substring(equals + 1), StandardCharsets.UTF_8));
      }
    }
    return query;
  }
}
