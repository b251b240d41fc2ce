package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.aws.Faults;
import io.firstclaim.lock.aws.TimeLimits;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.BucketAlreadyExistsException;
import software.amazon.awssdk.services.s3.model.BucketAlreadyOwnedByYouException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Sets up what a bucket of claims should have and lacks, as far as the store knows it. */
final class BucketSetup {
  private static final Logger LOG = LoggerFactory.getLogger(BucketSetup.class);

  private final S3Client client;
  private final S3Bucket bucket;
  private final String name;
  private final Lifecycle lifecycle;
  private final BucketPolicy policy;

  BucketSetup(S3Bucket bucket, ClaimSettings settings, List<ProtectedPrefix> alsoProtected) {
    this.client = bucket.client();
    this.bucket = bucket;
    this.name = bucket.name();
    this.lifecycle = new Lifecycle(bucket, settings);
    List<ProtectedPrefix> all =
        new ArrayList<>(List.of(ProtectedPrefix.onCondition(bucket.prefix())));
    all.addAll(alsoProtected);
    this.policy = new BucketPolicy(client, name, all);
  }

  void run() {
    createBucket();
    attempt("is not known to block public access", "public-access-block", this::blockPublicAccess);
    attempt(
        "has no lifecycle rule under %s: finished claims stay until they are swept"
            .formatted(bucket.prefix()),
        "lifecycle",
        lifecycle::add);
    attempt(
        "has no policy against unconditional writes and deletes under %s: anybody who may write there can overwrite a claim"
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
    if (S3Bucket.isMissing(
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

  private void addPolicy() {
    List<String> policies = new ArrayList<>();
    if (S3Bucket.isMissing(
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
          "S3 bucket {} has a policy already, which is left as it is. Add the statements of this one"
              + " that it lacks: {}",
          name,
          policy.inOneLine());
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
