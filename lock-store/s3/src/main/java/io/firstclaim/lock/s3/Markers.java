package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreOperation.Result;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.store.ClaimRecords;
import io.firstclaim.lock.store.DatedClock;
import io.firstclaim.lock.store.HttpDates;
import io.firstclaim.lock.store.StoreClock;
import io.firstclaim.lock.store.StoreMoment;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/** The requests for the markers of one namespace, and what their answers mean. Thread-safe. */
final class Markers implements ClaimRecords {

  private final S3Bucket bucket;
  private final String namespace;
  private final Duration retention;
  private final TimeSource time;
  private final StoreListener listener;
  private final AwsRequestOverrideConfiguration limits;

  /** The store's clock, as its answers show it. */
  private final DatedClock dated;

  private final HttpDates dates = new HttpDates();

  Markers(S3Bucket bucket, ClaimSettings settings, TimeSource time, StoreListener listener) {
    this.bucket = bucket;
    this.namespace = settings.namespace();
    this.retention = settings.retention();
    this.time = time;
    this.listener = listener;
    this.limits = bucket.limits(settings.storeTimeout());
    this.dated = new DatedClock(time, settings.lease(), listener);
  }

  /**
   * This machine's clock, to which the times of markers are converted. Only first tokens, which
   * machines of later years compare, are by the store's: what tells that there is none yet, tells
   * the time.
   */
  StoreClock clock() {
    StoreClock machine = StoreClock.ofMachine(time);
    return () -> {
      StoreMoment now = machine.now(); // first, as leases count from it
      StoreMoment told = dated.now();
      return told.isKnown() ? now.withTold(told.late()) : now;
    };
  }

  /**
   * A marker as it was read.
   *
   * @param marker its times on this machine's clock
   * @param version that makes a write conditional on it
   * @param age how long ago the store took it, up to a second more or less
   * @param at when it was read: a sighting counts from after it was seen
   */
  record Read(Marker marker, String version, Duration age, Moment at) {
    Stored stored() {
      return new Stored(marker.claim(), version, at);
    }
  }

  /** Where an ID's marker is. */
  String key(RecordId id) {
    return bucket.key(id.key(namespace));
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException if the marker would be too long
   */
  @Override
  public Write write(
      StoreOperation op, RecordId id, ClaimRecord next, @Nullable Stored on, Moment now) {
    if (on != null && on.version() == null) {
      // The lease has ended with its last write, or it was not granted by such a store.
      return differs(id);
    }
    byte[] body = new Marker(namespace, id, next, retention).encode(now.wall());
    PutObjectRequest.Builder put =
        PutObjectRequest.builder()
            .bucket(bucket.name())
            .key(key(id))
            .overrideConfiguration(limits)
            .contentType("application/json");
    PutObjectRequest request =
        (on == null ? put.ifNoneMatch("*") : put.ifMatch(on.version())).build();
    Supplier<Write> answer =
        call(
            op,
            () -> {
              Moment sent = time.now();
              PutObjectResponse written =
                  bucket.client().putObject(request, RequestBody.fromBytes(body));
              observe(written.sdkHttpResponse(), sent, time.now());
              return () -> new Write.Took(written.eTag());
            },
            refused ->
                refused.statusCode() == 412
                    ? Optional.of(() -> differs(id))
                    : S3Bucket.isMissingKey(refused)
                        ? Optional.of(() -> new Write.Differs(null))
                        : Optional.empty());
    listener.wrote(op, 1);
    return answer.get();
  }

  @Override
  public String identity() {
    return bucket.identity();
  }

  private Write differs(RecordId id) {
    return new Write.Differs(read(id).orElse(null));
  }

  @Override
  public Optional<Stored> read(RecordId id) {
    String key = key(id);
    Optional<Read> read = read(key);
    read.ifPresent(
        found -> {
          if (!found.marker.id().equals(id) || !found.marker.namespace().equals(namespace)) {
            throw noMarker(
                key, found.version, new IllegalStateException("it is that of another ID"));
          }
        });
    return read.map(Read::stored);
  }

  /** Reads the marker under a key. */
  Optional<Read> read(String key) {
    return call(
        StoreOperation.FIND,
        () -> {
          Moment sent = time.now();
          ResponseBytes<GetObjectResponse> body =
              bucket
                  .client()
                  .getObject(
                      get -> get.bucket(bucket.name()).key(key).overrideConfiguration(limits),
                      Markers::received);
          Moment at = time.now();
          observe(body.response().sdkHttpResponse(), sent, at);
          return Optional.of(decode(key, body, at));
        },
        refused ->
            S3Bucket.isMissingKey(refused)
                ? Optional.of(Optional.<Read>empty())
                : Optional.empty());
  }

  /**
   * A page of what is under the prefix.
   *
   * @param objects up to 1,000
   * @param date when the store answered, on its clock
   * @param next where the next page begins; null for none
   */
  record Page(List<S3Object> objects, Instant date, @Nullable String next) {}

  /** Lists a page: from where the last one ended, or from the beginning if that is null. */
  Page list(@Nullable String from) {
    return call(
        StoreOperation.LIST,
        () -> {
          ListObjectsV2Response page =
              bucket
                  .client()
                  .listObjectsV2(
                      list ->
                          list.bucket(bucket.name())
                              .prefix(bucket.prefix())
                              .continuationToken(from)
                              .overrideConfiguration(limits));
          Instant date = date(page.sdkHttpResponse()).orElseThrow(this::noDate);
          return new Page(page.contents(), date, page.nextContinuationToken());
        },
        unused -> Optional.empty());
  }

  /** Deletes a marker if it is still this version; false if it is not. */
  boolean delete(String key, String version) {
    return call(
        StoreOperation.DELETE,
        () -> {
          var unused =
              bucket
                  .client()
                  .deleteObject(
                      delete ->
                          delete
                              .bucket(bucket.name())
                              .key(key)
                              .ifMatch(version)
                              .overrideConfiguration(limits));
          return true;
        },
        refused ->
            refused.statusCode() == 412 || S3Bucket.isMissingKey(refused)
                ? Optional.of(false)
                : Optional.empty());
  }

  /** The answer with its body, of which no more is read than the longest marker. */
  private static ResponseBytes<GetObjectResponse> received(GetObjectResponse head, InputStream in) {
    try {
      return ResponseBytes.fromByteArrayUnsafe(head, in.readNBytes(Marker.MAX_BYTES + 1));
    } catch (IOException e) {
      throw RetryableException.create("the answer broke off", e);
    }
  }

  private Read decode(String key, ResponseBytes<GetObjectResponse> body, Moment at) {
    Instant date = date(body.response().sdkHttpResponse()).orElseThrow(this::noDate);
    Duration age = Duration.between(body.response().lastModified(), date);
    byte[] bytes = body.asByteArrayUnsafe();
    try {
      if (bytes.length > Marker.MAX_BYTES) {
        throw new IllegalStateException("it has more than " + Marker.MAX_BYTES + " bytes");
      }
      Marker marker = Marker.decode(bytes, at.wall().minus(age));
      return new Read(marker, body.response().eTag(), age, at);
    } catch (IllegalStateException e) {
      throw noMarker(key, body.response().eTag(), e);
    }
  }

  private <R> R call(
      StoreOperation op, Supplier<R> request, Function<S3Exception, Optional<R>> meaningOfRefusal) {
    Moment start = time.now();
    try {
      R answer = request.get();
      listener.called(op, Result.OK, time.now().since(start));
      return answer;
    } catch (S3Exception e) {
      if (e.awsErrorDetails() != null && e.awsErrorDetails().sdkHttpResponse() != null) {
        observe(e.awsErrorDetails().sdkHttpResponse(), start, time.now());
      }
      Optional<R> meant = meaningOfRefusal.apply(e);
      Result result =
          meant.isEmpty() ? Result.ERROR : op == StoreOperation.FIND ? Result.OK : Result.REFUSED;
      listener.called(op, result, time.now().since(start));
      return meant.orElseThrow(() -> fault(op, e));
    } catch (SdkException e) {
      listener.called(op, Result.ERROR, time.now().since(start));
      throw fault(op, e);
    }
  }

  private StoreException fault(StoreOperation op, RuntimeException fault) {
    String seen = Faults.inOneLine(fault);
    return S3Bucket.isPermanent(fault)
        ? new StoreRefusedException(
            "S3 bucket %s refuses %s: %s. It must be there, and claims need %s"
                .formatted(bucket.name(), op, seen, bucket.permissions()))
        : new StoreUnavailableException(
            "S3 bucket %s did not answer %s: %s".formatted(bucket.name(), op, seen), fault);
  }

  private StoreUnavailableException noDate() {
    return new StoreUnavailableException(
        "S3 bucket %s answers without Date, so that no lease can be judged"
            .formatted(bucket.name()));
  }

  private UnreadableClaimException noMarker(String key, String eTag, IllegalStateException why) {
    return new UnreadableClaimException(
        ("object %s of S3 bucket %s is not a claim: %s. Its record waits until it is removed. Is the"
                + " prefix used by something else? If not: aws s3api delete-object --bucket %s --key"
                + " %s --if-match %s")
            .formatted(
                key, bucket.name(), why.getMessage(), bucket.name(), quoted(key), quoted(eTag)),
        why);
  }

  /** The text, quoted to be one word of a shell's command. */
  private static String quoted(String word) {
    return "'" + OneLine.of(word).replace("'", "'\\''") + "'";
  }

  /** Has the store's clock, and so the listener, learn what an answer's date proves. */
  private void observe(SdkHttpResponse answer, Moment sent, Moment received) {
    answer.firstMatchingHeader("Date").ifPresent(date -> dated.observe(date, sent, received));
  }

  private Optional<Instant> date(SdkHttpResponse answer) {
    return answer.firstMatchingHeader("Date").flatMap(dates::time);
  }
}
