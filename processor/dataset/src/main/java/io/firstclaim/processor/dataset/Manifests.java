package io.firstclaim.processor.dataset;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.TranslatedFaults;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * The manifests of the dataset in an S3 bucket, under {@value #FOLDER} and the path of their
 * partition. Each is written once, under a name of its own, and never changed. Thread-safe.
 */
final class Manifests {
  /** The folder of all manifests, from the dataset's prefix on. */
  static final String FOLDER = "metastore/manifests/";

  /** How many files a manifest has at most; with so many, it has some 4 MB. */
  static final int FULL = 20_000;

  /** More than a full one can have, whatever the IDs in it. */
  private static final int MOST_BYTES = 32 << 20;

  /** Far less than for how long manifests are kept that no root names. */
  private static final Duration NAMED_WITHIN = Duration.ofMinutes(10);

  /** So many are written or read at once; the client has a few connections more. */
  private static final int AT_ONCE = 16;

  private static final Pattern PATH = Pattern.compile("(.+)/([0-9a-f]{32})\\.jsonl");

  private final S3Client client;
  private final String bucket;
  private final String prefix;
  private final S3Requests requests;

  Manifests(S3Client client, String bucket, String prefix) {
    this.client = TranslatedFaults.of(S3Client.class, client);
    this.bucket = bucket;
    this.prefix = prefix;
    this.requests = new S3Requests(bucket, AT_ONCE);
  }

  /** Where a manifest is, from the dataset's prefix on. */
  static String path(String partition, String name) {
    return FOLDER + partition.substring(DatasetFile.FOLDER.length()) + "/" + name + ".jsonl";
  }

  /**
   * Whether manifests that were written then, and that no root names yet, may have been removed: by
   * either clock, as the ticks of a suspended machine stand still.
   */
  static boolean mayBeGone(Moment written, Moment now) {
    return now.since(written).compareTo(NAMED_WITHIN) > 0
        || Duration.between(written.wall(), now.wall()).abs().compareTo(NAMED_WITHIN) > 0;
  }

  /**
   * Writes manifests of these files, as many as it takes.
   *
   * @param files of the partition, each once
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be written
   */
  List<Manifest> write(String partition, Collection<ListedFile> files) throws InterruptedException {
    List<ListedFile> sorted =
        files.stream().sorted(Comparator.comparing(one -> one.file().name())).toList();
    List<Manifest> written = new ArrayList<>();
    for (int from = 0; from < sorted.size(); from += FULL) {
      List<ListedFile> part = sorted.subList(from, Math.min(sorted.size(), from + FULL));
      Manifest manifest = Manifest.of(Nonce.random().toString(), part);
      put(partition, manifest, ManifestText.of(partition, part));
      written.add(manifest);
    }
    return written;
  }

  private void put(String partition, Manifest manifest, byte[] body) throws InterruptedException {
    String key = key(path(partition, manifest.name()));
    // The name is nobody else's: if something is there, it is this one, whose answer was lost.
    boolean _ =
        requests.tryWrite(
            "object " + key,
            () ->
                client.putObject(
                    put ->
                        put.bucket(bucket)
                            .key(key)
                            .ifNoneMatch("*")
                            .contentType("application/x-ndjson"),
                    RequestBody.fromBytes(body)));
  }

  /** Writes manifests for each of these partitions, several at once; throws as {@link #write}. */
  Map<String, List<Manifest>> writeAll(Map<String, List<ListedFile>> files)
      throws InterruptedException {
    Map<String, List<Manifest>> written = new TreeMap<>();
    if (files.size() < 2) { // the usual case takes no threads
      for (Map.Entry<String, List<ListedFile>> one : files.entrySet()) {
        written.put(one.getKey(), write(one.getKey(), one.getValue()));
      }
      return written;
    }
    List<String> partitions = List.copyOf(files.keySet());
    List<Callable<List<Manifest>>> writes = new ArrayList<>();
    for (String partition : partitions) {
      List<ListedFile> listed = files.getOrDefault(partition, List.of());
      writes.add(() -> write(partition, listed));
    }
    List<List<Manifest>> results = AtOnce.all(writes);
    for (int i = 0; i < partitions.size(); i++) {
      written.put(partitions.get(i), results.get(i));
    }
    return written;
  }

  /**
   * The files that a manifest lists.
   *
   * @throws UnreadableException if it is not there, or is not a manifest with as many
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be read
   */
  List<ListedFile> read(String partition, Manifest manifest) throws InterruptedException {
    return tryRead(partition, manifest)
        .orElseThrow(
            () ->
                new UnreadableManifestException(
                    partition,
                    ("S3 bucket %s: object %s%s is not the manifest that the dataset's root names:"
                            + " put it back (delete what is there by delete-object --if-match, then"
                            + " put-object --if-none-match '*'), or run 'dataset repair', which"
                            + " lists its files anew")
                        .formatted(bucket, prefix, path(partition, manifest.name()))));
  }

  /** The files of a manifest; empty if it is not there, or is not a manifest with as many. */
  Optional<List<ListedFile>> tryRead(String partition, Manifest manifest)
      throws InterruptedException {
    return body(partition, manifest.name())
        .flatMap(body -> parsed(partition, body))
        .filter(
            listed -> {
              Manifest read = Manifest.of(manifest.name(), listed);
              return read.foundIn(manifest.found()).equals(manifest);
            });
  }

  /** The files that each of these lists, several read at once; throws as {@link #read}. */
  List<List<ListedFile>> readAll(String partition, Collection<Manifest> all)
      throws InterruptedException {
    List<Callable<List<ListedFile>>> reads = new ArrayList<>();
    all.forEach(one -> reads.add(() -> read(partition, one)));
    return AtOnce.all(reads);
  }

  private static Optional<List<ListedFile>> parsed(String partition, byte[] body) {
    try {
      return Optional.of(ManifestText.parse(partition, body));
    } catch (IllegalArgumentException _) {
      return Optional.empty();
    }
  }

  private Optional<byte[]> body(String partition, String name) throws InterruptedException {
    String key = key(path(partition, name));
    return requests.find(
        "object " + key,
        () ->
            client
                .getObject(get -> get.bucket(bucket).key(key), new BoundedBody(MOST_BYTES)::read)
                .asByteArrayUnsafe());
  }

  /**
   * Which of some files manifests list. Reads each manifest once, however often it is asked:
   * whoever reads much would otherwise always be slower than others to write the root. For one
   * thread.
   */
  final class Lookup {
    private final String partition;
    private final Set<String> names;
    private final Map<String, Set<String>> listed = new HashMap<>();

    /** A lookup of the files of these names. */
    Lookup(String partition, Set<String> names) {
      this.partition = partition;
      this.names = names;
    }

    /** Which of them these manifests list; throws as {@link #read}. */
    Set<String> listed(Collection<Manifest> by) throws InterruptedException {
      Set<String> found = new HashSet<>();
      for (Manifest manifest : by) {
        Set<String> one = listed.get(manifest.name());
        if (one == null) {
          one =
              read(partition, manifest).stream()
                  .map(file -> file.file().name())
                  .filter(names::contains)
                  .collect(Collectors.toSet());
          listed.put(manifest.name(), one);
        }
        found.addAll(one);
      }
      return found;
    }
  }

  /**
   * When each manifest that is there was written, by the clock of the store, by its path; whether
   * the root names it or not.
   *
   * @param partition whose manifests are wanted; empty for those of all
   * @throws StoreUnavailableException if S3 does not answer
   * @throws StoreRefusedException if the bucket must not be listed
   */
  Map<String, Instant> written(String partition) throws InterruptedException {
    String folder =
        partition.isEmpty()
            ? FOLDER
            : FOLDER + partition.substring(DatasetFile.FOLDER.length()) + "/";
    return requests.send(
        "a listing of its manifests",
        () ->
            client
                .listObjectsV2Paginator(list -> list.bucket(bucket).prefix(key(folder)))
                .contents()
                .stream()
                .filter(one -> PATH.matcher(path(one)).matches())
                .collect(Collectors.toMap(this::path, S3Object::lastModified, (one, _) -> one)));
  }

  /**
   * All that the manifests of a partition that are there say of these files.
   *
   * @param besides manifests that say nothing of them
   */
  List<ListedFile> known(String partition, Collection<Manifest> besides, Set<String> names)
      throws InterruptedException {
    Set<String> passedOver = besides.stream().map(Manifest::name).collect(Collectors.toSet());
    List<Callable<List<ListedFile>>> reads = new ArrayList<>();
    for (String path : written(partition).keySet()) {
      Matcher matcher = PATH.matcher(path);
      if (matcher.matches() && !passedOver.contains(matcher.group(2))) {
        String name = matcher.group(2);
        reads.add(() -> about(names, partition, name));
      }
    }
    return AtOnce.all(reads).stream().flatMap(List::stream).toList();
  }

  private List<ListedFile> about(Set<String> names, String partition, String manifest)
      throws InterruptedException {
    return body(partition, manifest)
        .flatMap(body -> parsed(partition, body))
        .map(files -> files.stream().filter(one -> names.contains(one.file().name())).toList())
        .orElse(List.of());
  }

  /**
   * Removes a manifest that no root names, on the condition that it is still what was found: S3's
   * answer that it is not, or is not there, is as good.
   */
  void remove(String path) throws InterruptedException {
    String key = key(path);
    String eTag =
        requests.send(
            "object " + key,
            () -> client.headObject(head -> head.bucket(bucket).key(key)).eTag(),
            fault -> S3Requests.status(fault) == 404 ? Optional.of("") : Optional.empty());
    if (!eTag.isEmpty()) {
      boolean _ =
          requests.send(
              "object " + key,
              () -> {
                client.deleteObject(delete -> delete.bucket(bucket).key(key).ifMatch(eTag));
                return true;
              },
              fault ->
                  S3Requests.status(fault) == 412 || S3Requests.status(fault) == 404
                      ? Optional.of(false)
                      : Optional.empty());
    }
  }

  private String key(String path) {
    return prefix + path;
  }

  private String path(S3Object object) {
    return object.key().substring(prefix.length());
  }
}
