package io.firstclaim.processor.dataset;

import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/**
 * The objects of the dataset in an S3 bucket. Each is written once, on the condition that nothing
 * is there ({@code If-None-Match: *}); a large one in parts, whose <a
 * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html">completion
 * has that condition</a>. The SHA-256 of an object is in its metadata. Thread-safe.
 */
final class DatasetObjects {
  private static final Logger LOG = LoggerFactory.getLogger(DatasetObjects.class);
  private static final String SHA256 = "firstclaim-sha256";
  private static final String CONTENT_TYPE = "application/octet-stream";

  /** How many objects are written at once; the client has a few connections more. */
  static final int AT_WORK = 96;

  private static final Duration ABORTED_WITHIN = Duration.ofSeconds(10);

  /**
   * As many as there are connections for: waiting for one would run into the client's time limit.
   */
  private final Semaphore atWork = new Semaphore(AT_WORK);

  private final S3Client client;
  private final String bucket;
  private final String prefix;
  private final int partSize;
  private final S3Faults faults;

  /**
   * Objects in a bucket that is there.
   *
   * @param partSize in bytes; larger objects are written in parts of this size
   */
  DatasetObjects(S3Client client, String bucket, String prefix, int partSize) {
    this.client = client;
    this.bucket = bucket;
    this.prefix = prefix;
    this.partSize = partSize;
    this.faults = new S3Faults(bucket);
  }

  /**
   * Writes a file, or finds that it is there.
   *
   * @param ensureHeld called before anything becomes visible; what it throws ends it
   * @param sha256 of the value
   * @throws StoreUnavailableException if that is not known
   * @throws StoreRefusedException if the bucket is not there or the role may not do this
   */
  Put putOnce(DatasetFile file, byte[] value, String sha256, Runnable ensureHeld)
      throws InterruptedException {
    atWork.acquire();
    try {
      return put(file, value, sha256, ensureHeld);
    } finally {
      atWork.release();
    }
  }

  /** What became of an object. */
  enum Put {
    /** It was written now. */
    WRITTEN,
    /** It was there, with this content; or its own write was not answered at first. */
    FOUND,
    /** Another content is there. */
    OTHER
  }

  private Put put(DatasetFile file, byte[] value, String sha256, Runnable ensureHeld)
      throws InterruptedException {
    boolean isLarge = value.length > partSize;
    if (isLarge) {
      Optional<Put> isSame = compare(file, value, sha256);
      if (isSame.isPresent()) {
        return isSame.get();
      }
    }
    try {
      if (isLarge) {
        upload(file, value, sha256, ensureHeld);
      } else {
        ensureHeld.run();
        client.putObject(
            put ->
                put.bucket(bucket)
                    .key(key(file))
                    .ifNoneMatch("*")
                    .contentType(CONTENT_TYPE)
                    .metadata(Map.of(SHA256, sha256)),
            RequestBody.fromBytes(value));
      }
      return Put.WRITTEN;
    } catch (SdkException | CancellationException e) {
      S3Faults.requireNoInterrupt(e);
      // A completion may fail late, or in other ways, even when it or another one was applied.
      boolean mayBeThere = isLarge || S3Faults.status(e) == 412;
      Optional<Put> isSame = mayBeThere ? compare(file, value, sha256) : Optional.empty();
      return isSame.orElseThrow(() -> failure(file, e));
    }
  }

  private void upload(DatasetFile file, byte[] value, String sha256, Runnable ensureHeld) {
    String upload =
        client
            .createMultipartUpload(
                create ->
                    create
                        .bucket(bucket)
                        .key(key(file))
                        .contentType(CONTENT_TYPE)
                        .metadata(Map.of(SHA256, sha256)))
            .uploadId();
    boolean isCompleted = false;
    try {
      List<CompletedPart> parts = uploadParts(file, value, upload);
      ensureHeld.run();
      client.completeMultipartUpload(
          complete ->
              complete
                  .bucket(bucket)
                  .key(key(file))
                  .uploadId(upload)
                  .ifNoneMatch("*")
                  .multipartUpload(made -> made.parts(parts)));
      isCompleted = true;
    } finally {
      if (!isCompleted) {
        abort(key(file), upload);
      }
    }
  }

  private List<CompletedPart> uploadParts(DatasetFile file, byte[] value, String upload) {
    List<CompletedPart> parts = new ArrayList<>();
    for (int from = 0; from < value.length; from += partSize) {
      int start = from;
      int length = Math.min(partSize, value.length - from);
      int number = parts.size() + 1;
      RequestBody body =
          RequestBody.fromContentProvider(
              () -> new ByteArrayInputStream(value, start, length), length, CONTENT_TYPE);
      String eTag =
          client
              .uploadPart(
                  part -> part.bucket(bucket).key(key(file)).uploadId(upload).partNumber(number),
                  body)
              .eTag();
      parts.add(CompletedPart.builder().partNumber(number).eTag(eTag).build());
    }
    return parts;
  }

  /**
   * Parts that are never completed cost money for ever. An interrupted thread can send nothing, so
   * the interrupt waits. Harmless if the upload was completed after all.
   *
   * @return whether the upload is gone
   */
  private boolean abort(String key, String upload) {
    boolean wasInterrupted = Thread.interrupted();
    try {
      client.abortMultipartUpload(
          abort ->
              abort
                  .bucket(bucket)
                  .key(key)
                  .uploadId(upload)
                  .overrideConfiguration(limit -> limit.apiCallTimeout(ABORTED_WITHIN)));
      return true;
    } catch (SdkException | CancellationException e) {
      boolean isGone = S3Faults.status(e) == 404;
      if (!isGone) {
        LOG.warn(
            "A multipart upload of {} in S3 bucket {} was neither completed nor aborted: {}. A"
                + " repair of the dataset will, a day after it began",
            key,
            bucket,
            S3Faults.inOneLine(e));
      }
      return isGone;
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Whether what is there is the same; empty if nothing is there. */
  private Optional<Put> compare(DatasetFile file, byte[] value, String sha256)
      throws InterruptedException {
    try {
      HeadObjectResponse head = client.headObject(ask -> ask.bucket(bucket).key(key(file)));
      if (head.contentLength() != value.length) {
        return Optional.of(Put.OTHER);
      }
      String stored = head.metadata().get(SHA256);
      boolean isSame = stored == null ? Arrays.equals(read(file), value) : stored.equals(sha256);
      return Optional.of(isSame ? Put.FOUND : Put.OTHER);
    } catch (SdkException | CancellationException e) {
      S3Faults.requireNoInterrupt(e);
      if (S3Faults.status(e) == 404) {
        return Optional.empty();
      }
      throw failure(file, e);
    }
  }

  private byte[] read(DatasetFile file) {
    return client.getObjectAsBytes(get -> get.bucket(bucket).key(key(file))).asByteArrayUnsafe();
  }

  /**
   * The partitions that have objects.
   *
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket is not there or the role may not do this
   */
  SortedSet<String> partitions() throws InterruptedException {
    List<String> folders = List.of(DatasetFile.FOLDER);
    for (int level = 0; level < DatasetFile.LEVELS; level++) {
      List<String> next = new ArrayList<>();
      for (String folder : folders) {
        next.addAll(foldersIn(folder));
      }
      folders = next;
    }
    return folders.stream()
        .map(folder -> folder.substring(0, folder.length() - 1))
        .filter(DatasetFile::isPartition)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private List<String> foldersIn(String folder) throws InterruptedException {
    try {
      return client
          .listObjectsV2Paginator(
              list -> list.bucket(bucket).prefix(prefix + folder).delimiter("/"))
          .commonPrefixes()
          .stream()
          .map(found -> found.prefix().substring(prefix.length()))
          .toList();
    } catch (SdkException | CancellationException e) {
      S3Faults.requireNoInterrupt(e);
      throw failure(null, e);
    }
  }

  /**
   * The sizes in bytes of the files of a partition, by name; other objects in it are passed over.
   *
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket is not there or the role may not do this
   */
  SortedMap<String, Long> files(String partition) throws InterruptedException {
    try {
      SortedMap<String, Long> files = new TreeMap<>();
      client
          .listObjectsV2Paginator(list -> list.bucket(bucket).prefix(prefix + partition + "/"))
          .contents()
          .stream()
          .flatMap(object -> file(object.key(), object.size()).stream())
          .filter(file -> file.partition().equals(partition))
          .forEach(file -> files.put(file.name(), file.bytes()));
      return files;
    } catch (SdkException | CancellationException e) {
      S3Faults.requireNoInterrupt(e);
      throw failure(null, e);
    }
  }

  /**
   * For how long a file has been there, by the clock of the store.
   *
   * @return empty if it is not there
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket is not there or the role may not do this
   */
  Optional<Duration> age(DatasetFile file) throws InterruptedException {
    atWork.acquire();
    try {
      HeadObjectResponse head = client.headObject(ask -> ask.bucket(bucket).key(key(file)));
      return Optional.of(Duration.between(head.lastModified(), answered(head)));
    } catch (SdkException | CancellationException e) {
      S3Faults.requireNoInterrupt(e);
      if (S3Faults.status(e) == 404) {
        return Optional.empty();
      }
      throw failure(file, e);
    } finally {
      atWork.release();
    }
  }

  /** When, by the clock of the store; if it does not say, the file is new. */
  private static Instant answered(HeadObjectResponse head) {
    try {
      return head.sdkHttpResponse()
          .firstMatchingHeader("Date")
          .map(date -> ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant())
          .orElse(head.lastModified());
    } catch (DateTimeException e) {
      return head.lastModified();
    }
  }

  /**
   * The SHA-256 of what a file has in it now, and that which was noted when it was written.
   *
   * @param noted null if nothing was noted
   */
  record Content(String sha256, @Nullable String noted) {}

  /**
   * Reads a file through.
   *
   * @return empty if it is not there
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket is not there or the role may not do this
   */
  Optional<Content> content(DatasetFile file) throws InterruptedException {
    atWork.acquire();
    try {
      return Optional.of(
          client.getObject(
              get -> get.bucket(bucket).key(key(file)),
              (head, in) -> new Content(sha256(in), head.metadata().get(SHA256))));
    } catch (SdkException | CancellationException e) {
      S3Faults.requireNoInterrupt(e);
      if (S3Faults.isMissingKey(e)) {
        return Optional.empty();
      }
      throw failure(file, e);
    } finally {
      atWork.release();
    }
  }

  /**
   * Aborts the multipart uploads of files that were begun before this moment: these are left by
   * crashes, and by retries of requests whose answer was lost.
   *
   * @return how many
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket is not there or the role may not do this
   */
  long abortUploads(Instant begunBefore) throws InterruptedException {
    try {
      return client
          .listMultipartUploadsPaginator(
              list -> list.bucket(bucket).prefix(prefix + DatasetFile.FOLDER))
          .uploads()
          .stream()
          .filter(upload -> upload.initiated().isBefore(begunBefore))
          .filter(upload -> file(upload.key(), 0).isPresent())
          .filter(upload -> abort(upload.key(), upload.uploadId()))
          .count();
    } catch (SdkException | CancellationException e) {
      S3Faults.requireNoInterrupt(e);
      throw failure(null, e);
    }
  }

  private Optional<DatasetFile> file(String key, long bytes) {
    return DatasetFile.parse(key.substring(prefix.length()), bytes);
  }

  private String key(DatasetFile file) {
    return prefix + file.path();
  }

  private RuntimeException failure(@Nullable DatasetFile file, RuntimeException fault) {
    return faults.of(file == null ? "its objects" : "object " + key(file), fault);
  }

  /** In hex. */
  static String sha256(byte[] value) {
    return HexFormat.of().formatHex(sha256().digest(value));
  }

  private static String sha256(InputStream in) throws IOException {
    MessageDigest digest = sha256();
    byte[] buffer = new byte[1 << 16];
    for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
      digest.update(buffer, 0, length);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e); // every Java platform has it
    }
  }
}
