package io.firstclaim.lock.store;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.UnreadableClaimException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Several IDs in a store without transactions: the record first, as it is the one that may have
 * ended, then its resources in their order; at the first that is taken, or cannot be read, all are
 * given back, the record last. Nobody waits while holding anything, so there is no deadlock, and
 * what a crash leaves behind runs out with its lease. An attempt whose answer is unknown is not
 * given back, and where a release has none, the claim has none: the same claim, sent again, finds
 * what it was granted. It renews that, as the release may still be on its way.
 */
final class OneByOne implements Several {
  private static final Logger LOG = LoggerFactory.getLogger(OneByOne.class);

  private final DrivenClaimStore store;

  OneByOne(DrivenClaimStore store) {
    this.store = store;
  }

  @Override
  public ClaimResult claim(Claim claim) {
    ClaimResult answer = store.claimOne(new Command.Acquire(claim.alone(), true));
    if (!(answer instanceof Granted(Lease lease, String takenFrom))) {
      return answer;
    }
    List<Lease> resources = new ArrayList<>();
    for (Claim resource : claim.resources()) {
      ClaimResult found = claimed(resource, lease, resources);
      if (found instanceof Granted(Lease held, var unused)) {
        resources.add(held);
      } else {
        requireAnswer(giveBack(lease, resources, "another resource is taken"));
        return new ClaimResult.Blocked(
            List.of(ClaimResult.InTheWay.of(resource.id(), found, claim.start().wall())));
      }
    }
    return new Granted(lease.withResources(resources), takenFrom);
  }

  /** Claims one more; what was claimed before it is given back if that is a fault for good. */
  private ClaimResult claimed(Claim resource, Lease lease, List<Lease> before) {
    try {
      return store.claimOne(new Command.Acquire(resource, true));
    } catch (UnreadableClaimException | StoreRefusedException e) {
      try {
        var unused = giveBack(lease, before, "another resource cannot be had");
      } catch (StoreException alsoThis) {
        e.addSuppressed(alsoThis);
      }
      throw e;
    }
  }

  /**
   * Gives all back, the record last.
   *
   * @return the last release without an answer; null if all were answered
   */
  private SettleResult.@Nullable Unknown giveBack(Lease lease, List<Lease> resources, String why) {
    SettleResult.Unknown unanswered = null;
    for (Lease resource : resources.reversed()) {
      if (release(resource, "given back: " + why) instanceof SettleResult.Unknown unknown) {
        unanswered = unknown;
      }
    }
    return release(lease.ofAttempt(lease.attempt() - 1), DrivenClaimStore.BLOCKED)
            instanceof SettleResult.Unknown unknown
        ? unknown
        : unanswered;
  }

  /** Who is told that he is blocked holds nothing; where that is not known, he has no answer. */
  private static void requireAnswer(SettleResult.@Nullable Unknown unanswered) {
    if (unanswered != null) {
      throw new StoreUnavailableException(unanswered.why());
    }
  }

  private SettleResult release(Lease lease, String cause) {
    return store.settleOne(
        StoreOperation.RELEASE,
        lease,
        unused -> new Command.Release(lease, ClaimStore.AT_ONCE, cause));
  }

  @Override
  public SettleResult settle(
      StoreOperation op, Lease lease, Function<StoreMoment, Command.Settle> step) {
    SettleResult answer = store.settleOne(op, lease, step);
    if (op == StoreOperation.RENEW) {
      return answer instanceof Settled(Lease renewed) ? renewed(renewed) : answer;
    }
    if (answer instanceof SettleResult.Unknown) {
      return answer;
    }
    SettleResult.Unknown unanswered = free(lease);
    return unanswered != null ? unanswered : answer;
  }

  /**
   * Gives the resources of a lease back. One that cannot be given back is free once its lease is
   * over.
   *
   * @return the last release without an answer: the step is repeated, and finds what it did before;
   *     null if all were answered
   */
  private SettleResult.@Nullable Unknown free(Lease lease) {
    SettleResult.Unknown unanswered = null;
    for (Lease resource : lease.resources()) {
      try {
        if (release(resource, "%s is settled".formatted(lease.id()))
            instanceof SettleResult.Unknown unknown) {
          unanswered = unknown;
        }
      } catch (UnreadableClaimException | StoreRefusedException e) {
        LOG.warn("A resource of {} is not given back: {}", lease.id(), e.getMessage());
      }
    }
    return unanswered;
  }

  private SettleResult renewed(Lease lease) {
    List<Lease> resources = new ArrayList<>();
    for (Lease resource : lease.resources()) {
      SettleResult answer =
          store.settleOne(StoreOperation.RENEW, resource, unused -> new Command.Renew(resource));
      if (!(answer instanceof Settled(Lease held))) {
        return answer;
      }
      resources.add(held);
    }
    return new Settled(lease.withResources(resources));
  }

  @Override
  public SettleResult complete(Lease lease, @Nullable String result, Effects effects) {
    throw new IllegalArgumentException(
        "%s has no transactions, and cannot write %s with a completion"
            .formatted(store.getClass().getSimpleName(), effects.getClass().getSimpleName()));
  }
}
