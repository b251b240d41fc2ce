package io.firstclaim.processor.dataset;

import io.firstclaim.lock.Sha256;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.TranslatedFaults;
import io.firstclaim.lock.store.HttpDates;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
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
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * The objects of the dataset in an S3 bucket. Each is written once, on the condition that nothing
 * is there ({@code If-None-Match: *}); a large one in parts. The SHA-256 of an object is in its
 * metadata. Thread-safe.
 *
 * <p>What asks S3 throws {@link StoreUnavailableException} if S3 does not answer, and {@link
 * StoreRefusedException} if the bucket is not there or the role may not do this.
 */
final class DatasetObjects {
  private static final String SHA256 = "firstclaim-sha256";
  private static final String LISTING = "a listing of its objects";
  private static final String CONTENT_TYPE = "application/octet-stream";

  /** How many objects are written or read at once; the client has a few connections more. */
  static final int AT_ONCE = 96;

  private final S3Client client;
  private final String bucket;
  private final String prefix;
  private final int partSize;
  private final S3Requests requests;
  private final MultipartUploads uploads;

  /**
   * Objects in a bucket that is there.
   *
   * @param partSize in bytes; larger objects are written in parts of this size
   */
  DatasetObjects(S3Client client, String bucket, String prefix, int partSize) {
    this.client = TranslatedFaults.of(S3Client.class, client);
    this.bucket = bucket;
    this.prefix = prefix;
    this.partSize = partSize;
    this.requests = new S3Requests(bucket, AT_ONCE);
    this.uploads = new MultipartUploads(this.client, bucket, partSize);
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

  /**
   * Writes a file, or finds that it is there.
   *
   * @param ensureHeld called before anything becomes visible; what it throws ends it
   * @param sha256 of the value
   */
  Put putOnce(DatasetFile file, byte[] value, String sha256, Runnable ensureHeld)
      throws InterruptedException {
    if (value.length <= partSize) {
      return requests.send(
          object(file),
          () -> {
            ensureHeld.run();
            return put(file, value, sha256);
          },
          fault ->
              S3Requests.status(fault) == 412 ? compare(file, value, sha256) : Optional.empty());
    }
    // Compared first, so that nothing is sent in vain.
    Optional<Put> there = compare(file, value, sha256);
    if (there.isPresent()) {
      return there.get();
    }
    return requests.send(
        object(file),
        () -> {
          uploads.write(key(file), value, CONTENT_TYPE, Map.of(SHA256, sha256), ensureHeld);
          return Put.WRITTEN;
        },
        // A completion may fail late, or in other ways, even when it or another one was applied.
        _ -> compare(file, value, sha256));
  }

  private Put put(DatasetFile file, byte[] value, String sha256) {
    client.putObject(
        put ->
            put.bucket(bucket)
                .key(key(file))
                .ifNoneMatch("*")
                .contentType(CONTENT_TYPE)
                .metadata(Map.of(SHA256, sha256)),
        RequestBody.fromBytes(value));
    return Put.WRITTEN;
  }

  /** Whether what is there is the same; empty if nothing is there. */
  private Optional<Put> compare(DatasetFile file, byte[] value, String sha256)
      throws InterruptedException {
    Optional<HeadObjectResponse> head = head(file);
    if (head.isEmpty()) {
      return Optional.empty();
    }
    if (head.get().contentLength() != value.length) {
      return Optional.of(Put.OTHER);
    }
    String noted = head.get().metadata().get(SHA256);
    if (noted != null) {
      return Optional.of(noted.equals(sha256) ? Put.FOUND : Put.OTHER);
    }
    return requests
        .find(object(file), () -> read(file))
        .map(stored -> Arrays.equals(stored, value) ? Put.FOUND : Put.OTHER);
  }

  private byte[] read(DatasetFile file) {
    return client.getObjectAsBytes(get -> get.bucket(bucket).key(key(file))).asByteArrayUnsafe();
  }

  /** The answer to a HEAD has no body, so its 404 names no error. */
  private Optional<HeadObjectResponse> head(DatasetFile file) throws InterruptedException {
    return requests.send(
        object(file),
        () -> Optional.of(client.headObject(ask -> ask.bucket(bucket).key(key(file)))),
        fault ->
            S3Requests.status(fault) == 404 ? Optional.of(Optional.empty()) : Optional.empty());
  }

  /** The partitions that have objects. */
  SortedSet<String> partitions() throws InterruptedException {
    List<String> folders = List.of(DatasetFile.FOLDER);
    for (int level = 0; level < DatasetFile.LEVELS; level++) {
      List<String> next = new ArrayList<>();
      for (String folder : folders) {
        next.addAll(requests.send(LISTING, () -> foldersIn(folder)));
      }
      folders = next;
    }
    return folders.stream()
        .map(folder -> folder.substring(0, folder.length() - 1))
        .filter(DatasetFile::isPartition)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private List<String> foldersIn(String folder) {
    return client
        .listObjectsV2Paginator(list -> list.bucket(bucket).prefix(prefix + folder).delimiter("/"))
        .commonPrefixes()
        .stream()
        .map(found -> found.prefix().substring(prefix.length()))
        .toList();
  }

  /**
   * The sizes in bytes of the files of a partition, by name; other objects in it are passed over.
   */
  SortedMap<String, Long> files(String partition) throws InterruptedException {
    return listing(partition, Instant.MIN).young();
  }

  /**
   * The files of a partition.
   *
   * @param old what those come to that are older
   * @param young the sizes in bytes of the others, by name
   */
  record Listing(Sum old, SortedMap<String, Long> young) {}

  /**
   * The files of a partition, of which only the young are held; other objects in it are passed
   * over.
   *
   * @param youngSince from when on, by the clock of the store, a file is young
   */
  Listing listing(String partition, Instant youngSince) throws InterruptedException {
    return requests.send(
        LISTING,
        () -> {
          Sum old = Sum.NONE;
          SortedMap<String, Long> young = new TreeMap<>();
          for (S3Object object :
              client
                  .listObjectsV2Paginator(
                      list -> list.bucket(bucket).prefix(prefix + partition + "/"))
                  .contents()) {
            Optional<DatasetFile> file =
                file(object.key(), object.size())
                    .filter(found -> found.partition().equals(partition));
            if (file.isPresent() && object.lastModified().isBefore(youngSince)) {
              old = old.plus(file.get().name(), object.size());
            } else if (file.isPresent()) {
              young.put(file.get().name(), object.size());
            }
          }
          return new Listing(old, young);
        });
  }

  /**
   * For how long a file has been there, by the clock of the store; none if that does not say.
   *
   * @return empty if it is not there
   */
  Optional<Duration> age(DatasetFile file) throws InterruptedException {
    return head(file).map(head -> Duration.between(head.lastModified(), answered(head)));
  }

  private static Instant answered(HeadObjectResponse head) {
    return head.sdkHttpResponse()
        .firstMatchingHeader("Date")
        .flatMap(HttpDates::parsed)
        .orElse(head.lastModified());
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
   */
  Optional<Content> content(DatasetFile file) throws InterruptedException {
    return requests.find(
        object(file),
        () ->
            client.getObject(
                get -> get.bucket(bucket).key(key(file)),
                (head, in) -> new Content(sha256(in), head.metadata().get(SHA256))));
  }

  /** The SHA-256 that was noted when a file was written; empty if none was, or it is not there. */
  Optional<String> noted(DatasetFile file) throws InterruptedException {
    return head(file).map(head -> head.metadata().get(SHA256));
  }

  /**
   * Aborts the multipart uploads of files that were begun before this moment: these are left by
   * crashes, and by retries of requests whose answer was lost.
   *
   * @return how many
   */
  long abortUploads(Instant begunBefore) throws InterruptedException {
    return requests.send(
        LISTING,
        () ->
            client
                .listMultipartUploadsPaginator(
                    list -> list.bucket(bucket).prefix(prefix + DatasetFile.FOLDER))
                .uploads()
                .stream()
                .filter(upload -> upload.initiated().isBefore(begunBefore))
                .filter(upload -> file(upload.key(), 0).isPresent())
                .filter(upload -> uploads.abort(upload.key(), upload.uploadId()))
                .count());
  }

  private Optional<DatasetFile> file(String key, long bytes) {
    return DatasetFile.parse(key.substring(prefix.length()), bytes);
  }

  private String key(DatasetFile file) {
    return prefix + file.path();
  }

  private String object(DatasetFile file) {
    return "object " + key(file);
  }

  /** The SHA-256 of a value, in hex. */
  static String sha256(byte[] value) {
    return HexFormat.of().formatHex(Sha256.of(value));
  }

  private static String sha256(InputStream in) {
    MessageDigest digest = Sha256.digest();
    try {
      long _ = in.transferTo(new DigestOutputStream(OutputStream.nullOutputStream(), digest));
    } catch (IOException e) {
      throw RetryableException.create("the answer broke off", e);
    }
    return HexFormat.of().formatHex(digest.digest());
  }
}
