package io.firstclaim.lock.s3;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.BucketAlreadyExistsException;
import software.amazon.awssdk.services.s3.model.BucketAlreadyOwnedByYouException;
import software.amazon.awssdk.services.s3.model.ExpirationStatus;
import software.amazon.awssdk.services.s3.model.LifecycleRule;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Sets up what a bucket of claims should have and lacks, as far as the store knows it. */
final class BucketSetup {
  private static final Logger LOG = LoggerFactory.getLogger(BucketSetup.class);

  /** Between writing the lifecycle rules and reading them back. */
  private static final Backoff PAUSES = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(4));

  private static final int MOST_PUTS = 8;

  private final S3Client client;
  private final S3Bucket bucket;
  private final String name;
  private final ClaimSettings settings;
  private final WritePolicy policy;

  BucketSetup(S3Bucket bucket, ClaimSettings settings, List<String> alsoConditional) {
    this.client = bucket.client();
    this.bucket = bucket;
    this.name = bucket.name();
    this.settings = settings;
    List<String> conditional = new ArrayList<>(List.of(bucket.prefix()));
    conditional.addAll(alsoConditional);
    this.policy = new WritePolicy(client.serviceClientConfiguration().region(), name, conditional);
  }

  void run() {
    createBucket();
    attempt("is not known to block public access", "public-access-block", this::blockPublicAccess);
    attempt(
        "has no lifecycle rule under %s: finished claims stay until they are swept"
            .formatted(bucket.prefix()),
        "lifecycle",
        this::addLifecycleRule);
    attempt(
        "has no policy against unconditional writes under %s: anybody who may write there can overwrite a claim"
            .formatted(bucket.prefix()),
        "policy",
        this::addPolicy);
  }

  private void createBucket() {
    try {
      client.createBucket(create -> create.bucket(name).overrideConfiguration(TimeLimits.SETUP));
      // us-east-1 and some stores give the same answer if the caller's own bucket was there
      // already.
      LOG.info("S3 bucket {} was created, or there already", name);
    } catch (BucketAlreadyOwnedByYouException e) {
      LOG.debug("S3 bucket {} is there already", name);
    } catch (BucketAlreadyExistsException e) {
      // Some stores say this of the caller's own bucket too; verify() says if it is another's.
      LOG.debug("S3 bucket {} is there already", name, e);
    } catch (SdkException e) {
      if (e instanceof S3Exception refused && refused.statusCode() == 403) {
        throw new StoreRefusedException(
            "S3 bucket %s: %s. It takes the permission s3:CreateBucket; or create it yourself"
                .formatted(name, Faults.inOneLine(e)));
      }
      throw bucket.unavailable(e);
    }
  }

  private void blockPublicAccess() {
    if (isMissing(
        () ->
            client.getPublicAccessBlock(
                get -> get.bucket(name).overrideConfiguration(TimeLimits.SETUP)))) {
      client.putPublicAccessBlock(
          put ->
              put.bucket(name)
                  .overrideConfiguration(TimeLimits.SETUP)
                  .publicAccessBlockConfiguration(
                      block ->
                          block
                              .blockPublicAcls(true)
                              .ignorePublicAcls(true)
                              .blockPublicPolicy(true)
                              .restrictPublicBuckets(true)));
    }
  }

  /**
   * Adds it to the rules that are there. S3 takes all rules of a bucket at once and without a
   * condition, so that somebody else who read them before may write them after us, without ours:
   * they are read back after a pause, and ours is added again if it is gone.
   */
  private void addLifecycleRule() {
    List<LifecycleRule> rules = lifecycleRules();
    rules.stream().filter(rule -> !isOurs(rule)).forEach(this::warnIfShorter);
    if (rules.contains(ours(rules))) {
      return;
    }
    for (int puts = 1; puts <= MOST_PUTS; puts++) {
      put(rules);
      if (!pause(PAUSES.after(puts))) {
        return;
      }
      rules = lifecycleRules();
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

  /** Warns of every rule that removes what these settings need, whoever made it. */
  void warnOfShortRules() {
    try {
      lifecycleRules().forEach(this::warnIfShorter);
    } catch (
        SdkException e) { // not supported, not allowed, or not answered; the next sweep asks again
      LOG.debug("The lifecycle rules of S3 bucket {} are not known", name, e);
    }
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

  private List<LifecycleRule> lifecycleRules() {
    List<LifecycleRule> rules = new ArrayList<>();
    var unused =
        isMissing(
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

  /** By its ID; whoever else has a rule of this ID keeps claims under the prefix, too. */
  private boolean isOurs(LifecycleRule rule) {
    return ruleId().equals(rule.id());
  }

  private String ruleId() {
    return "firstclaim-" + bucket.prefix();
  }

  /** After how many days it removes what it concerns; 0 if that is not counted in days. */
  private static int daysOf(LifecycleRule rule) {
    Integer days = rule.expiration() == null ? null : rule.expiration().days();
    return days == null ? 0 : days;
  }

  /** Of several rules for one object, S3 goes by the shortest. */
  private void warnIfShorter(LifecycleRule rule) {
    String prefix = rule.filter() == null ? null : rule.filter().prefix();
    int days = daysOf(rule);
    if (prefix != null
        && (prefix.startsWith(bucket.prefix()) || bucket.prefix().startsWith(prefix))
        && rule.status() == ExpirationStatus.ENABLED
        && days > 0
        && days < daysKept()) {
      LOG.warn(
          "S3 bucket {} has a lifecycle rule {} that removes after {} days what is under {}, where"
              + " claims must stay for {}: make it longer, or give claims another prefix",
          name,
          OneLine.of(String.valueOf(rule.id())),
          days,
          OneLine.of(prefix),
          daysKept());
    }
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
        .filter(filter -> filter.prefix(bucket.prefix()))
        .expiration(expiration -> expiration.days(days))
        .noncurrentVersionExpiration(noncurrent -> noncurrent.noncurrentDays(1))
        .build();
  }

  private void addPolicy() {
    List<String> policies = new ArrayList<>();
    if (isMissing(
        () ->
            policies.add(
                client
                    .getBucketPolicy(
                        get -> get.bucket(name).overrideConfiguration(TimeLimits.SETUP))
                    .policy()))) {
      client.putBucketPolicy(
          put -> put.bucket(name).overrideConfiguration(TimeLimits.SETUP).policy(policy.text()));
    } else if (!policy.isIn(policies.getFirst())) {
      LOG.warn(
          "S3 bucket {} has a policy already, which is left as it is. Add this statement to it: {}",
          name,
          policy.inOneLine());
    }
  }

  /** Asks; true if the answer is that there is none. */
  private static boolean isMissing(Runnable question) {
    try {
      question.run();
      return false;
    } catch (S3Exception e) {
      if (e.statusCode() == 404) {
        return true;
      }
      throw e;
    }
  }

  /** Does what a store may not support, or a role may not be allowed: claims work without it. */
  private void attempt(String consequence, String what, Runnable step) {
    try {
      step.run();
    } catch (AwsServiceException e) {
      LOG.warn(
          "S3 bucket {} {}. Its {} could not be set: {}",
          name,
          consequence,
          what,
          Faults.inOneLine(e));
    } catch (SdkException e) {
      throw bucket.unavailable(e);
    }
  }
}
