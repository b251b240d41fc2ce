package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ConformanceResult;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import io.firstclaim.lock.store.HttpDates;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Tests whether a bucket keeps conditional writes, and whether the role may do all that claims
 * need: each condition by itself, then many writers at once, as some stores compare and write in
 * two steps: many quick ones to catch those that take one step right after the other, a few slow
 * ones to catch those that read the body in between. Leaves nothing behind if it may delete. For
 * one run.
 */
final class BucketConformanceCheck {
  private static final Logger LOG = LoggerFactory.getLogger(BucketConformanceCheck.class);

  private static final int ROUNDS = 8;
  private static final int WRITERS = 16;
  private static final int SLOW_WRITERS = 4;
  private static final int TRIES = 5;
  private static final TimeSource TIME = TimeSource.system();

  /** More than of the others, as no test can hold up a store between comparing and deleting. */
  private static final int ROUNDS_OF_DELETES = 32;

  /** How each request is sent but for those of a race. */
  private static final AwsRequestOverrideConfiguration ALONE =
      withRetries(retries -> retries.retryOnException(S3Bucket::isConflict));

  /** Who is told of a conflict in a race has lost it, and asks no more. */
  private static final AwsRequestOverrideConfiguration RACING = withRetries(retries -> {});

  private final S3Bucket bucket;
  private final String place;
  private final Set<String> written = ConcurrentHashMap.newKeySet();

  BucketConformanceCheck(S3Bucket bucket) {
    this.bucket = bucket;
    this.place = bucket.prefix() + "self-test/" + Nonce.random() + "/";
  }

  /**
   * Retries that take nothing from the client's tokens and want none: those who lose the races
   * would use them up, and a single broken connection would then end the test and the start.
   */
  private static AwsRequestOverrideConfiguration withRetries(
      Consumer<StandardRetryStrategy.Builder> more) {
    StandardRetryStrategy.Builder retries =
        AwsRetryStrategy.standardRetryStrategy().toBuilder()
            .circuitBreakerEnabled(false)
            .maxAttempts(TRIES);
    more.accept(retries);
    StandardRetryStrategy own = retries.build();
    return TimeLimits.SETUP.toBuilder()
        .addPlugin(
            client ->
                client.overrideConfiguration(
                    client.overrideConfiguration().toBuilder().retryStrategy(own).build()))
        .build();
  }

  /**
   * All checks, each regardless of how those before it went.
   *
   * @throws StoreRefusedException if the bucket is missing or the role may not use it
   * @throws StoreUnavailableException if S3 does not answer
   */
  List<ConformanceResult> run() {
    String key = place + "conditions";
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      return List.of(
          check("If-None-Match: * where no object is", "taken and read back", () -> first(key)),
          check("If-Match where no object is", "refused", this::onNothing),
          check("read where no object is", "not found", this::readNothing),
          check("If-None-Match: * where one is", "refused", () -> refused(key, "second", null)),
          check("If-Match on a wrong ETag", "refused", () -> refused(key, "wrong", "\"0\"")),
          check("If-Match on the ETag, then on the one before", "taken, refused", () -> next(key)),
          check("Date and Last-Modified of a read", "told, and not ahead", this::times),
          check(
              "If-None-Match: * by %d slow writers".formatted(SLOW_WRITERS),
              "one taken",
              () -> slowRace(threads, place + "slow", null)),
          check(
              "If-Match by %d slow writers".formatted(SLOW_WRITERS),
              "one taken",
              () -> slowRace(threads, key, get(key).eTag)),
          check(
              "If-None-Match: * by %d writers at once".formatted(WRITERS),
              "one taken, in each of %d rounds".formatted(ROUNDS),
              () -> firstRaces(threads)),
          check(
              "If-Match by %d writers at once".formatted(WRITERS),
              "one taken, in each of %d rounds".formatted(ROUNDS),
              () -> nextRaces(threads, key)));
    } finally {
      written.forEach(this::remove);
    }
  }

  /**
   * Whether conditional deletes are kept.
   *
   * @throws StoreRefusedException if the bucket is missing or the role may not delete in it
   * @throws StoreUnavailableException if S3 does not answer
   */
  ConformanceResult deletes() {
    String key = place + "deleted";
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      return check(
          "If-Match of deletes",
          "refused on a wrong ETag; never taken beside a write, in %d rounds"
              .formatted(ROUNDS_OF_DELETES),
          () -> {
            first(key);
            require(!delete(key, "\"0\""), "taken on a wrong ETag");
            for (int round = 0; round < ROUNDS_OF_DELETES; round++) {
              raceOfDeletes(threads, key, "written in round " + round);
            }
          });
    } finally {
      written.forEach(this::remove);
    }
  }

  /** Half of them write and half delete, all on one ETag, so either some delete or one writes. */
  private void raceOfDeletes(ExecutorService threads, String key, String text) {
    if (find(key, "s3:GetObject") == null) {
      first(key);
    }
    String on = get(key).eTag;
    List<Future<Put>> writes = new ArrayList<>();
    List<Future<Boolean>> deletes = new ArrayList<>();
    for (int i = 0; i < WRITERS / 2; i++) {
      String body = text + " by " + i;
      deletes.add(threads.submit(() -> delete(key, on)));
      writes.add(threads.submit(() -> quickPut(key, body, on)));
    }
    List<Put> puts = writes.stream().map(BucketConformanceCheck::result).toList();
    long wrote = puts.stream().filter(Put::took).count();
    long removed =
        deletes.stream().map(BucketConformanceCheck::result).filter(took -> took).count();
    if (wrote == 0 && removed == 0) {
      puts.forEach(Put::requireAnswer);
    }
    require(
        wrote == 0 || (removed == 0 && find(key, "s3:GetObject") != null), "taken beside a write");
  }

  /** Ends a check: the store did something on which no claim can rest. */
  private static final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final String seen;

    Broken(String seen) {
      super(seen);
      this.seen = seen;
    }
  }

  private static ConformanceResult check(String name, String expected, Runnable trial) {
    try {
      trial.run();
      return new ConformanceResult(name, expected, true);
    } catch (Broken e) {
      return new ConformanceResult(name, e.seen, false);
    }
  }

  private static void require(boolean kept, String seen) {
    if (!kept) {
      throw new Broken(seen);
    }
  }

  private void onNothing() {
    require(!put(place + "nothing", "absent", "\"0\"").took, "an object was created");
  }

  /** Without s3:ListBucket, S3 answers 403 where it would say that nothing is there. */
  private void readNothing() {
    require(find(place + "nothing", "s3:ListBucket") == null, "an object was there");
  }

  private void first(String key) {
    boolean took = put(key, "first", null).took;
    // If it was refused and reads back, its answer was lost and the SDK sent it again.
    require(get(key).body.equals("first"), took ? "taken, but not read back" : "refused");
  }

  private void refused(String key, String body, @Nullable String on) {
    require(!put(key, body, on).took, "taken");
  }

  private void next(String key) {
    String before = get(key).eTag;
    boolean took = put(key, "right", before).took;
    require(
        get(key).body.equals("right"), took ? "taken, but not read back" : "refused on the ETag");
    require(!put(key, "old", before).took, "taken on the one before");
  }

  /** A lease's age is its Date less its Last-Modified, both cut to the second. */
  private void times() {
    String key = place + "times";
    Moment sent = TIME.now();
    var unused = put(key, "times", null);
    Seen seen = get(key);
    require(
        seen.date != null && seen.lastModified != null, "missing, and leases are judged by them");
    Duration ahead =
        Duration.between(seen.lastModified, seen.date)
            .minus(TIME.now().since(sent))
            .minusSeconds(1);
    require(
        ahead.compareTo(ClaimSettings.LEAST_SKEW) <= 0,
        ("Date runs ahead of Last-Modified by %d ms or more, so that leases would end early: does a"
                + " gateway set it by a clock of its own?")
            .formatted(ahead.toMillis()));
  }

  private void firstRaces(ExecutorService threads) {
    for (int round = 0; round < ROUNDS; round++) {
      quickRace(threads, place + round, "first", null);
    }
  }

  private void nextRaces(ExecutorService threads, String key) {
    for (int round = 0; round < ROUNDS; round++) {
      quickRace(threads, key, "next in round " + round, get(key).eTag);
    }
  }

  /** Many write at once, each its own body that begins with this text. */
  private void quickRace(ExecutorService threads, String key, String text, @Nullable String on) {
    List<Callable<Put>> writers = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      String body = text + " by " + i;
      writers.add(() -> quickPut(key, body, on));
    }
    race(threads, key, text, writers);
  }

  /** A race in which all have sent half of their bodies before any sends the rest. */
  private void slowRace(ExecutorService threads, String key, @Nullable String on) {
    var halfWay = new CyclicBarrier(SLOW_WRITERS);
    List<Callable<Put>> writers = new ArrayList<>();
    for (int i = 0; i < SLOW_WRITERS; i++) {
      String body = ("slow by " + i).repeat(SlowBody.LENGTH / "slow by 0".length());
      writers.add(() -> slowPut(key, body, on, halfWay));
    }
    race(threads, key, "slow", writers);
  }

  /** The writers write at once, each its own body that begins with this text. */
  private void race(ExecutorService threads, String key, String text, List<Callable<Put>> writers) {
    List<Future<Put>> running = writers.stream().map(threads::submit).toList();
    List<Put> puts = running.stream().map(BucketConformanceCheck::result).toList();
    List<Put> took = puts.stream().filter(Put::took).toList();
    require(took.size() <= 1, "%d of %d taken".formatted(took.size(), writers.size()));
    if (took.isEmpty()) {
      puts.forEach(Put::requireAnswer);
    }
    String body = get(key).body;
    // None reports success if the winner's answer was lost and the SDK sent its request again.
    require(
        took.isEmpty() ? body.startsWith(text) : took.getFirst().body.equals(body),
        took.isEmpty() ? "none taken" : "taken, but not read back");
  }

  private record Put(String body, boolean took, @Nullable StoreUnavailableException unanswered) {
    Put(String body, boolean took) {
      this(body, took, null);
    }

    void requireAnswer() {
      if (unanswered != null) {
        throw unanswered;
      }
    }
  }

  private record Seen(
      String body, String eTag, @Nullable Instant date, @Nullable Instant lastModified) {}

  private Put put(String key, String body, @Nullable String on) {
    return put(key, body, on, RequestBody.fromString(body), ALONE);
  }

  /** A store may tell those who lose a race of a conflict instead of a failed condition. */
  private Put quickPut(String key, String body, @Nullable String on) {
    try {
      return put(key, body, on, RequestBody.fromString(body), RACING);
    } catch (StoreUnavailableException e) {
      if (S3Bucket.isConflict(e.getCause())) {
        return new Put(body, false, e);
      }
      throw e;
    }
  }

  /** A store may refuse a long body before it has read it, and hang up on its sender. */
  private Put slowPut(String key, String body, @Nullable String on, CyclicBarrier halfWay) {
    try {
      return put(key, body, on, SlowBody.of(body, halfWay), RACING);
    } catch (StoreUnavailableException e) {
      return new Put(body, false, e);
    }
  }

  /** Makes one conditional write of this body, sent in this way. */
  private Put put(
      String key,
      String body,
      @Nullable String on,
      RequestBody sent,
      AwsRequestOverrideConfiguration how) {
    written.add(key);
    try {
      bucket
          .client()
          .putObject(
              put -> {
                put.bucket(bucket.name()).key(key).overrideConfiguration(how);
                if (on == null) {
                  put.ifNoneMatch("*");
                } else {
                  put.ifMatch(on);
                }
              },
              sent);
      return new Put(body, true);
    } catch (S3Exception e) {
      boolean failed = e.statusCode() == 412 || S3Bucket.isMissingKey(e);
      if (failed) {
        return new Put(body, false);
      }
      throw fault(e, "s3:PutObject");
    } catch (SdkException e) {
      throw bucket.unavailable(e);
    }
  }

  private Seen get(String key) {
    Seen seen = find(key, "s3:GetObject");
    if (seen == null) {
      throw new Broken("no object was there to read");
    }
    return seen;
  }

  /**
   * What is there; null for nothing.
   *
   * @param permission that it lacks if it is denied
   */
  private @Nullable Seen find(String key, String permission) {
    ResponseBytes<GetObjectResponse> read;
    try {
      read =
          bucket
              .client()
              .getObjectAsBytes(
                  get -> get.bucket(bucket.name()).key(key).overrideConfiguration(ALONE));
    } catch (S3Exception e) {
      if (S3Bucket.isMissingKey(e)) {
        return null;
      }
      throw fault(e, permission);
    } catch (SdkException e) {
      throw bucket.unavailable(e);
    }
    GetObjectResponse head = read.response();
    return new Seen(
        read.asUtf8String(),
        String.valueOf(head.eTag()),
        head.sdkHttpResponse().firstMatchingHeader("Date").flatMap(HttpDates::parsed).orElse(null),
        head.lastModified());
  }

  /**
   * Makes one conditional delete. Returns whether it took; one in conflict with a write did not.
   */
  private boolean delete(String key, String on) {
    try {
      var unused =
          bucket
              .client()
              .deleteObject(
                  delete ->
                      delete
                          .bucket(bucket.name())
                          .key(key)
                          .ifMatch(on)
                          .overrideConfiguration(RACING));
      return true;
    } catch (S3Exception e) {
      if (e.statusCode() == 412 || S3Bucket.isMissingKey(e) || S3Bucket.isConflict(e)) {
        return false;
      }
      throw fault(e, "s3:DeleteObject");
    } catch (SdkException e) {
      throw bucket.unavailable(e);
    }
  }

  private RuntimeException fault(S3Exception fault, String permission) {
    return switch (fault.statusCode()) {
      case 403 ->
          new StoreRefusedException(
              "S3 bucket %s: %s. It takes the permission %s; claims need %s"
                  .formatted(
                      bucket.name(), Faults.inOneLine(fault), permission, bucket.permissions()));
      case 404 ->
          Faults.code(fault).equals("NoSuchBucket")
              ? new StoreRefusedException(
                  "S3 bucket %s is missing; create it, or have it created at the start"
                      .formatted(bucket.name()))
              : bucket.unavailable(fault);
      case 501 -> new Broken("answered " + Faults.inOneLine(fault));
      default -> bucket.unavailable(fault);
    };
  }

  private static <T> T result(Future<T> writer) {
    try {
      return writer.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException("interrupted in the conformance check", e);
    }
  }

  /** Removes the object on its ETag, as a policy may deny deletes without a condition. */
  private void remove(String key) {
    try {
      Seen seen = find(key, "s3:GetObject");
      if (seen != null) {
        var unused = delete(key, seen.eTag);
      }
    } catch (StoreException | Broken e) {
      LOG.debug("Object {} of S3 bucket {} is left to its lifecycle", key, bucket.name(), e);
    }
  }
}
