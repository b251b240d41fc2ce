package io.firstclaim.lock.s3;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ExpirationStatus;
import software.amazon.awssdk.services.s3.model.LifecycleRule;
import software.amazon.awssdk.services.s3.model.LifecycleRuleFilter;

/**
 * The rules by which a bucket removes what is old, and what they mean for the claims under its
 * prefix. Immutable.
 */
final class Lifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(Lifecycle.class);

  /** The pauses between writing the rules and reading them back. */
  private static final Backoff PAUSES = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(4));

  private static final int MOST_PUTS = 8;

  private final S3Client client;
  private final String name;
  private final String prefix;
  private final ClaimSettings settings;

  /** The lifecycle rules for claims of these settings. */
  Lifecycle(S3Bucket bucket, ClaimSettings settings) {
    this.client = bucket.client();
    this.name = bucket.name();
    this.prefix = bucket.prefix();
    this.settings = settings;
  }

  /**
   * Adds ours to the rules that are there. S3 takes all rules of a bucket at once and without a
   * condition, so that somebody else who read them before may write them after us, without ours:
   * they are read back after a pause, and ours is added again if it is gone.
   */
  void add() {
    List<LifecycleRule> rules = rules();
    rules.stream().filter(rule -> !isOurs(rule)).forEach(this::warnIfShorter);
    if (rules.contains(ours(rules))) {
      return;
    }
    for (int puts = 1; puts <= MOST_PUTS; puts++) {
      put(rules);
      if (!pause(PAUSES.after(puts))) {
        return;
      }
      rules = rules();
      if (rules.stream().anyMatch(rule -> isOurs(rule) && daysOf(rule) >= daysKept())) {
        return;
      }
    }
    LOG.warn(
        "S3 bucket {} does not keep the lifecycle rule {} for {} days: it was added {} times and is"
            + " not there. Does somebody else write the bucket's rules again and again?",
        name,
        ruleId(),
        daysKept(),
        MOST_PUTS);
  }

  /** Warns of every rule that removes what these settings need, whoever made it; and of none. */
  void warn() {
    try {
      if (!removesAll(rules())) {
        LOG.warn(
            "S3 bucket {} has no lifecycle rule that removes what is under {}: finished claims stay"
                + " until a sweeper removes them, and for ever without one. Have the bucket made up"
                + " at the start, or add a rule that expires them after {} days",
            name,
            prefix,
            daysKept());
      }
    } catch (SdkException e) {
      LOG.info(
          "Whether S3 bucket {} has a lifecycle rule that removes claims under {} is not known: {}."
              + " It takes the permission s3:GetLifecycleConfiguration to look",
          name,
          prefix,
          Faults.inOneLine(e));
    }
  }

  /**
   * Whether a rule removes all that is under the prefix, as far as is known. Warns of every rule
   * that removes what these settings need, whoever made it.
   */
  boolean removes() {
    try {
      return removesAll(rules());
    } catch (
        SdkException e) { // not supported, not allowed, or not answered; the next sweep asks again
      LOG.debug("The lifecycle rules of S3 bucket {} are not known", name, e);
      return false;
    }
  }

  private boolean removesAll(List<LifecycleRule> rules) {
    rules.forEach(this::warnIfShorter);
    return rules.stream().anyMatch(this::removesAll);
  }

  /** False if the thread was interrupted. */
  private static boolean pause(Duration length) {
    try {
      TimeSource.system().sleep(length);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private List<LifecycleRule> rules() {
    List<LifecycleRule> rules = new ArrayList<>();
    var unused =
        S3Bucket.isMissing(
            () ->
                rules.addAll(
                    client
                        .getBucketLifecycleConfiguration(
                            get -> get.bucket(name).overrideConfiguration(TimeLimits.SETUP))
                        .rules()));
    return rules;
  }

  private void put(List<LifecycleRule> found) {
    List<LifecycleRule> rules = new ArrayList<>(found);
    rules.removeIf(this::isOurs);
    rules.add(ours(found));
    client.putBucketLifecycleConfiguration(
        put ->
            put.bucket(name)
                .overrideConfiguration(TimeLimits.SETUP)
                .lifecycleConfiguration(lifecycle -> lifecycle.rules(rules)));
  }

  /**
   * Our rule among these. Whoever else keeps claims under the prefix may need them for longer, so
   * that it is never made shorter.
   */
  private LifecycleRule ours(List<LifecycleRule> found) {
    int days = daysKept();
    for (LifecycleRule each : found) {
      if (isOurs(each)) {
        days = Math.max(days, daysOf(each));
      }
    }
    return rule(days);
  }

  /**
   * Whether a rule is ours, by its ID: whoever else has a rule of this ID keeps claims under the
   * prefix, too.
   */
  private boolean isOurs(LifecycleRule rule) {
    return ruleId().equals(rule.id());
  }

  private String ruleId() {
    return "firstclaim-" + prefix;
  }

  /** After how many days it removes what it concerns; 0 if that is not counted in days. */
  private static int daysOf(LifecycleRule rule) {
    Integer days = rule.expiration() == null ? null : rule.expiration().days();
    return days == null ? 0 : days;
  }

  /**
   * Warns of a rule that is shorter than ours: of several rules for one object, S3 goes by the
   * shortest.
   */
  private void warnIfShorter(LifecycleRule rule) {
    String of = prefixOf(rule);
    int days = daysOf(rule);
    if ((of.startsWith(prefix) || prefix.startsWith(of))
        && removesUntagged(rule)
        && days < daysKept()) {
      LOG.warn(
          "S3 bucket {} has a lifecycle rule {} that removes after {} days what is under {}, where"
              + " claims must stay for {}: make it longer, or give claims another prefix",
          name,
          OneLine.of(String.valueOf(rule.id())),
          days,
          OneLine.of(of),
          daysKept());
    }
  }

  /** Whether all that is under the prefix goes by this rule. */
  private boolean removesAll(LifecycleRule rule) {
    return prefix.startsWith(prefixOf(rule)) && removesUntagged(rule) && !isBySize(rule);
  }

  /** Whether anything goes by this rule that has no tag, as claims have none. */
  private static boolean removesUntagged(LifecycleRule rule) {
    LifecycleRuleFilter filter = rule.filter();
    return rule.status() == ExpirationStatus.ENABLED
        && daysOf(rule) > 0
        && (filter == null
            || (filter.tag() == null && (filter.and() == null || !filter.and().hasTags())));
  }

  private static boolean isBySize(LifecycleRule rule) {
    LifecycleRuleFilter filter = rule.filter();
    return filter != null
        && (filter.objectSizeGreaterThan() != null
            || filter.objectSizeLessThan() != null
            || (filter.and() != null
                && (filter.and().objectSizeGreaterThan() != null
                    || filter.and().objectSizeLessThan() != null)));
  }

  /** What the keys that it concerns begin with; empty for all. */
  @SuppressWarnings("deprecation") // rules of before 2016 have it outside of the filter
  private static String prefixOf(LifecycleRule rule) {
    LifecycleRuleFilter filter = rule.filter();
    String of =
        filter == null
            ? rule.prefix()
            : filter.and() == null ? filter.prefix() : filter.and().prefix();
    return Objects.requireNonNullElse(of, "");
  }

  /** The retention plus a lease, in whole days. */
  private int daysKept() {
    Duration kept = settings.retention().plus(settings.lease());
    return Math.toIntExact(kept.plusDays(1).minusNanos(1).toDays());
  }

  /**
   * Removes what has not been written for this many days, from midnight. In a versioned bucket that
   * leaves a delete marker over old versions; the versions go a day later and the marker, once it
   * is alone, by the same expiration (<a
   * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html">Lifecycle
   * elements</a>).
   */
  private LifecycleRule rule(int days) {
    return LifecycleRule.builder()
        .id(ruleId())
        .status(ExpirationStatus.ENABLED)
        .filter(filter -> filter.prefix(prefix))
        .expiration(expiration -> expiration.days(days))
        .noncurrentVersionExpiration(noncurrent -> noncurrent.noncurrentDays(1))
        .build();
  }
}
