package io.firstclaim.processor.service.claims;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RecordId.Space;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.service.admin.Problem;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * What whoever was granted a claim shows to go on with it: the tokens, and the nonce of the grant,
 * which nobody can guess. Everything else is read from the store at each step, so a handle outlives
 * renewals, the instance that gave it, and whatever was altered in it.
 *
 * @param token of the grant
 * @param grant the nonce of the claim that was granted
 * @param resources what was claimed with it, with the token of each
 */
record Handle(long token, Nonce grant, List<Resource> resources) {
  /** How many resources a claim over HTTP may have. */
  static final int MAX_RESOURCES = 20;

  /** How many bytes their names may have together: a handle is part of a path. */
  static final int MAX_RESOURCE_BYTES = 2048;

  private static final byte FORMAT = 1;
  private static final int CHECK = 4;
  private static final String REMEDY =
      "give the handle as the answer 201 had it, with nothing added, cut or changed";

  /**
   * What was claimed with a record.
   *
   * @param token its own
   */
  record Resource(RecordId id, long token) {}

  Handle {
    resources = List.copyOf(resources);
  }

  /** The handle of a lease that was granted to a claim of this nonce. */
  static Handle of(Lease lease, Nonce grant) {
    return new Handle(
        lease.token(),
        grant,
        lease.resources().stream().map(each -> new Resource(each.id(), each.token())).toList());
  }

  /**
   * The handle that is written so.
   *
   * @throws Problem if none is
   */
  static Handle parse(String text) {
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(text);
      int length = bytes.length - CHECK;
      if (length < 1
          || !Arrays.equals(check(bytes, length), Arrays.copyOfRange(bytes, length, bytes.length))
          || bytes[0] != FORMAT) {
        throw wrong(text);
      }
      ByteBuffer in = ByteBuffer.wrap(bytes, 1, length - 1);
      long token = in.getLong();
      Nonce grant = new Nonce(in.getLong(), in.getLong());
      List<Resource> resources = new ArrayList<>();
      while (in.hasRemaining()) {
        byte[] id = new byte[Short.toUnsignedInt(in.getShort())];
        in.get(id);
        resources.add(new Resource(RecordId.of(id).in(Space.RESOURCE), in.getLong()));
      }
      if (resources.size() > MAX_RESOURCES) {
        throw wrong(text);
      }
      return new Handle(token, grant, resources);
    } catch (IllegalArgumentException | BufferUnderflowException e) {
      throw wrong(text);
    }
  }

  private static Problem wrong(String text) {
    return Problem.wrong("handle", text, REMEDY);
  }

  /** The handle as it is given to clients: safe in a path. */
  String text() {
    int length =
        1 + 3 * Long.BYTES + resources.stream().mapToInt(each -> 10 + each.id().length()).sum();
    ByteBuffer out = ByteBuffer.allocate(length + CHECK);
    out.put(FORMAT).putLong(token).putLong(grant.high()).putLong(grant.low());
    for (Resource each : resources) {
      out.putShort((short) each.id().length()).put(each.id().bytes()).putLong(each.token());
    }
    out.put(check(out.array(), length));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(out.array());
  }

  /** Tells what was mistyped or cut, not what was forged: who can forge it knows the nonce. */
  private static byte[] check(byte[] bytes, int length) {
    return Arrays.copyOf(Fingerprint.of(Arrays.copyOf(bytes, length)).hash(), CHECK);
  }

  /** The lease of this grant as it is stored now; empty if any part of it is another's, or free. */
  Optional<Lease> resume(DrivenClaimStore store, RecordId id) {
    return resumeWhatIsLeft(store, id)
        .filter(lease -> lease.resources().size() == resources.size());
  }

  /** The same with those resources alone that are held yet; empty if the record is not. */
  Optional<Lease> resumeWhatIsLeft(DrivenClaimStore store, RecordId id) {
    return store.resume(id, token, grant).map(lease -> lease.withResources(resourcesLeft(store)));
  }

  /** The leases on those resources that are held yet. */
  List<Lease> resourcesLeft(DrivenClaimStore store) {
    return resources.stream()
        .flatMap(each -> store.resume(each.id(), each.token(), grant).stream())
        .toList();
  }

  /** Leaves out the nonce, by which anybody could go on with the claim. */
  @Override
  public String toString() {
    return "Handle[token=" + token + "]";
  }
}
