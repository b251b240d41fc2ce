package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writes of many threads in few requests: those that come while one is under way stand in line and
 * leave together in the next one, which waits for no answer once it is full, nor for a slow one.
 * Where no request is under way, a write leaves at once, and alone.
 *
 * <p>It has no thread of its own. One of those in line, the first, sends for all that leave with
 * it, and calls the next when it has its answer. Thread-safe.
 *
 * @param <W> a write
 * @param <A> its answer
 */
final class GroupCommit<W, A> {
  private final Limits limits;
  private final Requests<W, A> requests;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private final Deque<Place> line = new ArrayDeque<>();
  private int underWay;

  /**
   * How much at once.
   *
   * @param most writes in one request
   * @param least writes in a common request: 2, or 1 to have even single ones sent that way
   * @param requests under way, however many are in line
   * @param slow how long a request is under way before another leaves that is not full: what may
   *     have befallen the one, such as a lost connection, need not hold up the others
   * @param patience how long one may stand in line, and its request be under way, together
   */
  record Limits(int most, int least, int requests, Duration slow, Duration patience) {}

  /** How writes are sent. All may be called by several threads at once. */
  interface Requests<W, A> {
    /** No two writes with the same key are ever in one request. */
    Object key(W write);

    /** Sends one write alone. */
    A alone(W write);

    /** Sends several writes at once. Returns their answers in the order of the writes. */
    List<A> together(List<W> writes);

    /** The answer to one whose request was broken off as its sender was interrupted or failed. */
    A brokenOff();
  }

  /** What a writer in line is told. */
  private sealed interface Turn<A> {
    /** The writer is to send, for itself and for those who leave with it. */
    record Lead<A>() implements Turn<A> {}

    /** Another has sent it. */
    record Answered<A>(A answer) implements Turn<A> {}
  }

  private final class Place {
    private final W write;
    private final CompletableFuture<Turn<A>> turn = new CompletableFuture<>();

    Place(W write) {
      this.write = write;
    }
  }

  GroupCommit(Limits limits, Requests<W, A> requests) {
    this.limits = limits;
    this.requests = requests;
  }

  /**
   * Sends a write, alone or with others, and waits for its answer. An interruption does not end the
   * wait for another's request.
   *
   * @throws StoreUnavailableException if it was not answered in time
   */
  A write(W write) {
    Place own = new Place(write);
    return isFirst(own) ? lead(own) : follow(own);
  }

  /** Whether this write may leave at once; if not, it is put in line. */
  private boolean isFirst(Place own) {
    lock.lock();
    try {
      if (mayLeave(line.size() + 1)) {
        underWay++;
        return true;
      }
      line.addLast(own);
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** Whether another request may leave, with so many writes waiting for it. */
  private boolean mayLeave(int waiting) {
    return underWay == 0 || (waiting >= limits.most && underWay < limits.requests);
  }

  private A follow(Place own) {
    Turn<A> turn;
    try {
      turn = turn(own);
    } catch (RuntimeException | Error e) {
      withdraw(own);
      throw e;
    }
    return switch (turn) {
      case Turn.Lead<A>() -> lead(own);
      case Turn.Answered<A>(A answer) -> answer;
    };
  }

  private Turn<A> turn(Place own) {
    boolean interrupted = false;
    long look = Math.min(limits.slow.toNanos(), limits.patience.toNanos());
    long looks = limits.patience.toNanos() / look;
    try {
      while (true) {
        try {
          return own.turn.get(look, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException e) {
          looks--;
          if (looks > 0) {
            overtake(own);
          } else if (isGone(own)) {
            throw new StoreUnavailableException(
                "others' requests to DynamoDB, for which this one waited, took longer than %s"
                    .formatted(limits.patience),
                e);
          }
        } catch (ExecutionException e) {
          throw new IllegalStateException("nobody tells of a fault", e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Leaves the line to send, if it may, though a request is under way. */
  private void overtake(Place own) {
    lock.lock();
    try {
      if (underWay < limits.requests && line.remove(own)) {
        call(own);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Leaves the line after a failure; if it had been called to send, the next is called instead. */
  private void withdraw(Place own) {
    boolean called;
    lock.lock();
    try {
      called = !line.remove(own) && own.turn.getNow(null) instanceof Turn.Lead;
    } finally {
      lock.unlock();
    }
    if (called) {
      leave();
    }
  }

  /** Gives up waiting, in line or for the request that its write is in; false if it is answered. */
  private boolean isGone(Place own) {
    lock.lock();
    try {
      boolean waited = line.remove(own);
      return waited || !own.turn.isDone();
    } finally {
      lock.unlock();
    }
  }

  private A lead(Place own) {
    List<Place> batch = List.of(own);
    List<A> answers = List.of();
    try {
      // The request of an interrupted sender is broken off at once, so it leaves alone.
      batch = Thread.currentThread().isInterrupted() ? batch : gathered(own);
      if (batch.size() < limits.least) {
        return requests.alone(own.write);
      }
      answers = requests.together(batch.stream().map(each -> each.write).toList());
      return answers.getFirst();
    } finally {
      leave();
      for (int i = 1; i < batch.size(); i++) {
        A answer = i < answers.size() ? answers.get(i) : requests.brokenOff();
        batch.get(i).turn.complete(new Turn.Answered<>(answer));
      }
    }
  }

  /** This write and the first ones in line, as many as fit in a request. */
  private List<Place> gathered(Place own) {
    lock.lock();
    try {
      List<Place> batch = new ArrayList<>();
      batch.add(own);
      Set<Object> keys = new HashSet<>();
      keys.add(requests.key(own.write));
      Iterator<Place> next = line.iterator();
      while (batch.size() < limits.most && next.hasNext()) {
        Place other = next.next();
        if (keys.add(requests.key(other.write))) {
          batch.add(other);
          next.remove();
        }
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }

  /** A request has ended; calls the next in line, if it may leave. */
  private void leave() {
    lock.lock();
    try {
      underWay--;
      Place next = mayLeave(line.size()) ? line.pollFirst() : null;
      if (next != null) {
        call(next); // under the lock, so that it cannot lose patience meanwhile
      }
    } finally {
      lock.unlock();
    }
  }

  /** Tells a writer that is no longer in line to send. The caller has the lock. */
  private void call(Place next) {
    underWay++;
    next.turn.complete(new Turn.Lead<>());
  }
}
