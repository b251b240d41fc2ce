package io.firstclaim.lock.testkit.fault;

import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/** The common conditions of a {@link Rule}; combine them with {@link Predicate#and}. */
public final class Match {
  private Match() {}

  public static Predicate<Request> any() {
    return unused -> true;
  }

  /** One of these operations: {@code PutItem}, {@code UpdateItem}, or {@code PUT}, {@code GET}. */
  public static Predicate<Request> operation(String... names) {
    Set<String> wanted = Set.of(names);
    return request -> wanted.contains(request.operation());
  }

  public static Predicate<Request> bodyContains(String text) {
    return request -> request.body().contains(text);
  }

  public static Predicate<Request> pathContains(String text) {
    return request -> request.path().contains(text);
  }

  /** Every n-th request that is asked about. */
  public static Predicate<Request> everyNth(int n) {
    AtomicInteger asked = new AtomicInteger();
    return unused -> asked.incrementAndGet() % n == 0;
  }

  /**
   * One in n, by chance. Were it every n-th, an attempt of n requests would lose the same one each
   * time.
   */
  public static Predicate<Request> oneIn(int n) {
    Random chance = new Random(n);
    return unused -> chance.nextInt(n) == 0;
  }

  /** A header that is there, such as {@code If-None-Match}. */
  public static Predicate<Request> header(String name) {
    return request -> request.header(name) != null;
  }
}
