package io.firstclaim.processor.dataset;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

/** What is done about many at once, each on a thread of its own; who is asked bounds that. */
final class AtOnce {
  /** How many are asked about before the answers are told. */
  private static final int MOST = 1_000;

  private AtOnce() {}

  /** The results of these tasks, in their order; throws what the first that fails throws. */
  static <T> List<T> all(List<Callable<T>> tasks) throws InterruptedException {
    List<T> results = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<T> one : threads.invokeAll(tasks)) {
        results.add(one.get());
      }
      return results;
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case RuntimeException fault -> throw fault;
        case Error fault -> throw fault;
        case null, default -> throw new IllegalStateException(e);
      }
    }
  }

  /** What is asked about one of many. */
  interface Question<T, R> {
    R ask(T one) throws InterruptedException;
  }

  /** Asks about all of these, many at once, and tells the answers in their order. */
  static <T, R> void askOfAll(Collection<T> all, Question<T, R> question, BiConsumer<T, R> answers)
      throws InterruptedException {
    List<T> rest = List.copyOf(all);
    for (int from = 0; from < rest.size(); from += MOST) {
      List<T> part = rest.subList(from, Math.min(rest.size(), from + MOST));
      List<Callable<R>> questions = new ArrayList<>();
      part.forEach(one -> questions.add(() -> question.ask(one)));
      List<R> answered = all(questions);
      for (int i = 0; i < part.size(); i++) {
        answers.accept(part.get(i), answered.get(i));
      }
    }
  }
}
