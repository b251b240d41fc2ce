package io.firstclaim.lock;

import io.firstclaim.lock.RecordId.Space;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One try to own a record, and what it touches. Sending the same claim again is safe and is how one
 * whose answer never came is repeated: the store knows it by its nonce. Once a claim has been
 * answered, the next try is a new claim.
 *
 * @param id the record
 * @param fingerprint of its payload
 * @param nonce names this claim
 * @param start before the first send; a lease granted to this claim counts from here
 * @param sighting what the previous claim saw, by which the claimant watches a holder whose clock
 *     it need not trust
 * @param onBehalfOf of what it is to be held, for those in whose way it is
 * @param resources claims on what is to be held with it, all or nothing, sorted by their IDs
 */
public record Claim(
    RecordId id,
    Fingerprint fingerprint,
    Nonce nonce,
    Moment start,
    @Nullable Sighting sighting,
    @Nullable String onBehalfOf,
    List<Claim> resources) {
  /** So many IDs one claim may have, as a transaction of DynamoDB has no more actions. */
  public static final int MAX_IDS = 100;

  /** Keeps a copy of the resources. */
  public Claim {
    resources = List.copyOf(resources);
    if (resources.size() >= MAX_IDS) {
      throw new IllegalArgumentException(
          "at most %d IDs can be claimed together, these are %d"
              .formatted(MAX_IDS, resources.size() + 1));
    }
  }

  /**
   * A claim on a record.
   *
   * @throws IllegalArgumentException if it is no record's ID
   */
  public Claim(
      RecordId id,
      Fingerprint fingerprint,
      Nonce nonce,
      Moment start,
      @Nullable Sighting sighting) {
    this(requireRecord(id), fingerprint, nonce, start, sighting, null, List.of());
  }

  private static RecordId requireRecord(RecordId id) {
    if (id.space() != Space.RECORD) {
      throw new IllegalArgumentException(
          "%s is no record's ID, but that of a %s: claim it with Claim.ofMutex, or as a resource"
              .formatted(id, id.space()));
    }
    return id;
  }

  /** A new claim, to be sent now. */
  public static Claim of(RecordId id, Fingerprint fingerprint, Moment now) {
    return new Claim(id, fingerprint, Nonce.random(), now, null);
  }

  /** A new claim on a mutex, to be sent now. */
  public static Claim ofMutex(RecordId id, Moment now) {
    return ofMutex(List.of(id), null, now);
  }

  /**
   * A new claim on several mutexes, all or none, to be sent now. The first by their order has the
   * others for its resources.
   *
   * @param ids each {@linkplain RecordId#asMutex taken for a mutex's}
   * @param onBehalfOf for those in whose way they are
   * @throws IllegalArgumentException if there is none
   */
  public static Claim ofMutex(Collection<RecordId> ids, @Nullable String onBehalfOf, Moment now) {
    TreeSet<RecordId> others = ids.stream().map(RecordId::asMutex).collect(toTreeSet());
    RecordId first = others.pollFirst();
    if (first == null) {
      throw new IllegalArgumentException("a mutex has at least one ID");
    }
    return held(first, Nonce.random(), now, null, onBehalfOf).with(others, onBehalfOf);
  }

  /** The claim after one that was answered {@code held}. */
  public static Claim after(ClaimResult.Held held, Claim previous, Moment now) {
    return previous.again(now, held.sighting(), Map.of());
  }

  /** The claim after one that was answered {@code blocked}. */
  public static Claim after(ClaimResult.Blocked blocked, Claim previous, Moment now) {
    Map<RecordId, Sighting> sightings = new HashMap<>();
    for (ClaimResult.InTheWay resource : blocked.inTheWay()) {
      if (resource.sighting() != null) {
        sightings.put(resource.id(), resource.sighting());
      }
    }
    return previous.again(now, sightings.get(previous.id), sightings);
  }

  private static Claim held(
      RecordId id,
      Nonce nonce,
      Moment start,
      @Nullable Sighting sighting,
      @Nullable String onBehalfOf) {
    return new Claim(id, Fingerprint.none(), nonce, start, sighting, onBehalfOf, List.of());
  }

  private Claim again(Moment now, @Nullable Sighting seen, Map<RecordId, Sighting> resourcesSeen) {
    Nonce another = Nonce.random();
    List<Claim> others =
        resources.stream()
            .map(each -> held(each.id, another, now, resourcesSeen.get(each.id), each.onBehalfOf))
            .toList();
    return new Claim(id, fingerprint, another, now, seen, onBehalfOf, others);
  }

  /**
   * This claim, on these resources too: the record and all of them are granted, or nothing. They
   * are held on behalf of the record. Duplicates count once.
   *
   * @param ids at most {@value #MAX_IDS} with the record's own; each {@linkplain
   *     RecordId#asResource taken for a resource's}
   */
  public Claim withResources(Collection<RecordId> ids) {
    return with(ids.stream().map(RecordId::asResource).collect(toTreeSet()), id.text());
  }

  private static Collector<RecordId, ?, TreeSet<RecordId>> toTreeSet() {
    return Collectors.toCollection(TreeSet::new);
  }

  private Claim with(SortedSet<RecordId> ids, @Nullable String behalf) {
    List<Claim> others = ids.stream().map(each -> held(each, nonce, start, null, behalf)).toList();
    return new Claim(id, fingerprint, nonce, start, sighting, onBehalfOf, others);
  }

  /** This claim without its resources. */
  public Claim alone() {
    return new Claim(id, fingerprint, nonce, start, sighting, onBehalfOf, List.of());
  }

  /**
   * The token it is granted if the store does not know the ID. A record's tokens begin at 1. Those
   * of all else begin with the time, in milliseconds since 1970, as it may be wanted again long
   * after the store has forgotten it: as no mutex is granted a thousand times a second for long,
   * that is more than any token it ever had.
   *
   * @param now by the store's clock
   */
  public long firstToken(Instant now) {
    return id.space() == Space.RECORD ? 1 : now.toEpochMilli();
  }
}
