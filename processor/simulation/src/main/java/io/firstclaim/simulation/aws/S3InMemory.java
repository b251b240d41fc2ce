package io.firstclaim.simulation.aws;

import io.firstclaim.simulation.aws.Service.Answer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * S3 without a transport: what the product asks of S3 and nothing else, in memory, with conditions
 * evaluated for real. An ETag is the MD5 of the body, so that two equal bodies have the same one;
 * times are cut to the second; a versioned bucket keeps what was overwritten and deleted. It passes
 * the contracts of the S3 stores; what it does not know it refuses loudly. Thread-safe.
 */
public final class S3InMemory {
  private static final byte[] NOTHING = new byte[0];
  private static final int PAGE = 1000;
  private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");

  /** Documents about a bucket, which are kept as they come. */
  private static final List<String> CONFIGURATIONS =
      List.of("lifecycle", "policy", "publicAccessBlock", "versioning");

  private final Map<String, Bucket> buckets = new TreeMap<>();
  private final Listener listener;
  private final @Nullable Consumer<Runnable> later;
  private long versions;

  /** Hears of each write that was applied, while no other can change the object. */
  @FunctionalInterface
  public interface Listener {
    /**
     * An object has changed.
     *
     * @param before its body; empty if there was none
     * @param after the same, now
     */
    void wrote(String key, byte[] before, byte[] after);
  }

  /**
   * A request.
   *
   * @param path with the bucket at its beginning, not encoded
   * @param headers their names in lower case
   * @param body which nobody changes
   */
  @SuppressWarnings("ArrayRecordComponent")
  record Request(
      String method,
      String path,
      Map<String, String> query,
      Map<String, String> headers,
      byte[] body) {
    @Nullable String header(String name) {
      return headers.get(name);
    }
  }

  @SuppressWarnings("ArrayRecordComponent")
  private record Version(
      String id, byte[] body, String eTag, Instant modified, Map<String, String> headers) {
    boolean isDeleted() {
      return eTag.isEmpty();
    }
  }

  private static final class Bucket {
    private final TreeMap<String, List<Version>> objects = new TreeMap<>();
    private final Map<String, byte[]> configurations = new HashMap<>();

    boolean isVersioned() {
      byte[] versioning = configurations.getOrDefault("versioning", NOTHING);
      return new String(versioning, StandardCharsets.UTF_8).contains("<Status>Enabled<");
    }

    @Nullable Version find(String key) {
      List<Version> all = objects.getOrDefault(key, List.of());
      return all.isEmpty() || all.getLast().isDeleted() ? null : all.getLast();
    }
  }

  private static final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final int status;
    private final String code;

    Refusal(int status, String code) {
      super(code, null, false, false);
      this.status = status;
      this.code = code;
    }
  }

  /**
   * Without buckets.
   *
   * @param later does the second step of a delete after a while, on a store that compares and
   *     deletes in two; null if it is one step
   */
  public S3InMemory(Listener listener, @Nullable Consumer<Runnable> later) {
    this.listener = listener;
    this.later = later;
  }

  /** Makes a bucket. */
  synchronized void create(String name, boolean versioned) {
    Bucket bucket = new Bucket();
    if (versioned) {
      bucket.configurations.put(
          "versioning",
          "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
              .getBytes(StandardCharsets.UTF_8));
    }
    buckets.put(name, bucket);
  }

  /** An answer that refuses a request, such as SlowDown. */
  static Answer refused(int status, String code, Instant date) {
    byte[] body =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>%s</Code><Message>%s</Message></Error>"
            .formatted(code, code)
            .getBytes(StandardCharsets.UTF_8);
    return answer(status, Map.of("Content-Type", "application/xml"), body, date);
  }

  private static Answer answer(int status, Map<String, String> headers, byte[] body, Instant date) {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.putIfAbsent("Content-Length", Integer.toString(body.length));
    all.put("Date", httpDate(date));
    all.put("x-amz-request-id", "simulated");
    return new Answer(status, all, body);
  }

  private static String httpDate(Instant time) {
    return DateTimeFormatter.RFC_1123_DATE_TIME.format(time.atOffset(ZoneOffset.UTC));
  }

  /**
   * Does what a request asks for.
   *
   * @param date of the machine that answers
   * @param modified the time of the machine that writes
   */
  synchronized Answer answer(Request request, Instant date, Instant modified) {
    try {
      int slash = request.path.indexOf('/', 1);
      boolean isObject = slash > 0 && slash + 1 < request.path.length();
      String bucket = request.path.substring(1, slash < 0 ? request.path.length() : slash);
      if (bucket.isEmpty()) {
        throw unknown(request);
      }
      return isObject
          ? object(request, bucket(bucket), request.path.substring(slash + 1), date, modified)
          : bucket(request, bucket, date);
    } catch (Refusal e) {
      return request.method.equals("HEAD")
          ? answer(e.status, Map.of(), NOTHING, date)
          : refused(e.status, e.code, date);
    }
  }

  private static Refusal unknown(Request request) {
    System.err.printf("S3 in memory does not know %s %s%n", request.method, request.query);
    return new Refusal(501, "NotImplemented");
  }

  private Bucket bucket(String name) {
    Bucket bucket = buckets.get(name);
    if (bucket == null) {
      throw new Refusal(404, "NoSuchBucket");
    }
    return bucket;
  }

  // Buckets

  private Answer bucket(Request request, String name, Instant date) {
    for (String kind : CONFIGURATIONS) {
      if (request.query.containsKey(kind)) {
        return configuration(request, bucket(name), kind, date);
      }
    }
    return switch (request.method) {
      case "PUT" -> {
        if (buckets.putIfAbsent(name, new Bucket()) != null) {
          throw new Refusal(409, "BucketAlreadyOwnedByYou");
        }
        yield answer(200, Map.of("Location", "/" + name), NOTHING, date);
      }
      case "HEAD" -> {
        Bucket _ = bucket(name);
        yield answer(200, Map.of(), NOTHING, date);
      }
      case "GET" -> {
        Bucket bucket = bucket(name);
        String list =
            request.query.containsKey("versions")
                ? versions(request, bucket)
                : list(request, name, bucket);
        yield answer(
            200,
            Map.of("Content-Type", "application/xml"),
            list.getBytes(StandardCharsets.UTF_8),
            date);
      }
      default -> throw unknown(request);
    };
  }

  private Answer configuration(Request request, Bucket bucket, String kind, Instant date) {
    return switch (request.method) {
      case "PUT" -> {
        bucket.configurations.put(kind, request.body);
        yield answer(200, Map.of(), NOTHING, date);
      }
      case "DELETE" -> {
        bucket.configurations.remove(kind);
        yield answer(204, Map.of(), NOTHING, date);
      }
      case "GET" -> {
        byte[] found = bucket.configurations.get(kind);
        if (found == null) {
          throw new Refusal(404, "NoSuch" + kind.toUpperCase(Locale.ROOT));
        }
        yield answer(
            200,
            Map.of("Content-Type", kind.equals("policy") ? "application/json" : "application/xml"),
            found,
            date);
      }
      default -> throw unknown(request);
    };
  }

  private static String list(Request request, String name, Bucket bucket) {
    String prefix = request.query.getOrDefault("prefix", "");
    String from = request.query.getOrDefault("continuation-token", "");
    int most = Math.min(PAGE, Integer.parseInt(request.query.getOrDefault("max-keys", "" + PAGE)));
    StringBuilder contents = new StringBuilder();
    int count = 0;
    String next = null;
    for (String key : bucket.objects.tailMap(from, true).keySet()) {
      Version version = bucket.find(key);
      if (version == null || !key.startsWith(prefix)) {
        continue;
      }
      if (count == most) {
        next = key;
        break;
      }
      count++;
      contents.append(
          "<Contents><Key>%s</Key><LastModified>%s</LastModified><ETag>%s</ETag><Size>%d</Size></Contents>"
              .formatted(
                  escaped(key), version.modified, escaped(version.eTag), version.body.length));
    }
    return "<ListBucketResult><Name>%s</Name><Prefix>%s</Prefix><KeyCount>%d</KeyCount><IsTruncated>%s</IsTruncated>%s%s</ListBucketResult>"
        .formatted(
            name,
            escaped(prefix),
            count,
            next != null,
            next == null
                ? ""
                : "<NextContinuationToken>%s</NextContinuationToken>".formatted(escaped(next)),
            contents);
  }

  private static String versions(Request request, Bucket bucket) {
    String prefix = request.query.getOrDefault("prefix", "");
    StringBuilder all = new StringBuilder("<ListVersionsResult><IsTruncated>false</IsTruncated>");
    bucket.objects.forEach(
        (key, versions) -> {
          if (key.startsWith(prefix)) {
            for (Version each : versions.reversed()) {
              String kind = each.isDeleted() ? "DeleteMarker" : "Version";
              all.append(
                  "<%s><Key>%s</Key><VersionId>%s</VersionId><IsLatest>%s</IsLatest></%s>"
                      .formatted(
                          kind,
                          escaped(key),
                          each.id,
                          each.id.equals(versions.getLast().id),
                          kind));
            }
          }
        });
    return all.append("</ListVersionsResult>").toString();
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
  }

  // Objects

  private Answer object(
      Request request, Bucket bucket, String key, Instant date, Instant modified) {
    return switch (request.method) {
      case "PUT" -> put(request, bucket, key, date, modified);
      case "GET", "HEAD" -> get(request, bucket, key, date);
      case "DELETE" -> delete(request, bucket, key, date, modified);
      default -> throw unknown(request);
    };
  }

  private Answer put(Request request, Bucket bucket, String key, Instant date, Instant modified) {
    Version before = bucket.find(key);
    String on = request.header("if-match");
    if (on != null && before == null) {
      throw new Refusal(404, "NoSuchKey");
    }
    requireMatch(on, before);
    if (request.header("if-none-match") != null && before != null) {
      throw new Refusal(412, "PreconditionFailed");
    }
    Map<String, String> headers = new TreeMap<>();
    request.headers.forEach(
        (name, value) -> {
          if (name.startsWith("x-amz-meta-") || name.equals("content-type")) {
            headers.put(name, value);
          }
        });
    byte[] body = decoded(request);
    Version written = new Version("" + ++versions, body, eTag(body), cut(modified), headers);
    add(bucket, key, written);
    Map<String, String> told = new LinkedHashMap<>(Map.of("ETag", written.eTag));
    if (bucket.isVersioned()) {
      told.put("x-amz-version-id", written.id);
    }
    return answer(200, told, NOTHING, date);
  }

  private void add(Bucket bucket, String key, Version next) {
    Version before = bucket.find(key);
    List<Version> all = bucket.objects.computeIfAbsent(key, _ -> new ArrayList<>());
    if (!bucket.isVersioned()) {
      all.clear();
      if (next.isDeleted()) {
        bucket.objects.remove(key);
      }
    }
    all.add(next);
    listener.wrote(key, before == null ? NOTHING : before.body, next.body);
  }

  private static Instant cut(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS);
  }

  private static void requireMatch(@Nullable String on, @Nullable Version before) {
    if (on != null && (before == null || !before.eTag.equals(on))) {
      throw new Refusal(412, "PreconditionFailed");
    }
  }

  private static Answer get(Request request, Bucket bucket, String key, Instant date) {
    Version found = bucket.find(key);
    if (found == null) {
      throw new Refusal(404, "NoSuchKey");
    }
    Map<String, String> headers = new LinkedHashMap<>(found.headers);
    headers.put("ETag", found.eTag);
    headers.put("Last-Modified", httpDate(found.modified));
    Matcher range = RANGE.matcher(Objects.requireNonNullElse(request.header("range"), ""));
    byte[] body = found.body;
    int status = 200;
    if (range.matches() && body.length > 0) {
      int from = Math.min(Integer.parseInt(range.group(1)), body.length);
      int to = Math.min(Integer.parseInt(range.group(2)) + 1, body.length);
      headers.put("Content-Range", "bytes %d-%d/%d".formatted(from, to - 1, body.length));
      body = Arrays.copyOfRange(body, from, to);
      status = 206;
    }
    headers.put("Content-Length", Integer.toString(body.length));
    return answer(status, headers, request.method.equals("HEAD") ? NOTHING : body, date);
  }

  private Answer delete(
      Request request, Bucket bucket, String key, Instant date, Instant modified) {
    String on = request.header("if-match");
    requireMatch(on, bucket.find(key));
    if (on != null && later != null) {
      later.accept(() -> remove(bucket, key, modified));
    } else {
      remove(bucket, key, modified);
    }
    return answer(204, Map.of(), NOTHING, date);
  }

  private synchronized void remove(Bucket bucket, String key, Instant modified) {
    if (bucket.find(key) != null) {
      add(bucket, key, new Version("" + ++versions, NOTHING, "", cut(modified), Map.of()));
    }
  }

  private static String eTag(byte[] body) {
    try {
      return "\"" + HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(body)) + "\"";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The body without what chunked signing puts between its parts. */
  private static byte[] decoded(Request request) {
    String length = request.header("x-amz-decoded-content-length");
    if (length == null) {
      return request.body;
    }
    byte[] body = new byte[Integer.parseInt(length)];
    int from = 0;
    int at = 0;
    while (at < body.length) {
      int end = from;
      while (request.body[end] != '\r') {
        end++;
      }
      String head = new String(request.body, from, end - from, StandardCharsets.US_ASCII);
      int size = Integer.parseInt(head.split(";", 2)[0], 16);
      System.arraycopy(request.body, end + 2, body, at, size);
      at += size;
      from = end + 2 + size + 2;
    }
    return body;
  }
}
