package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.ActMessage.Phase;
import io.firstclaim.processor.service.acts.NotWrittenException;
import io.firstclaim.processor.service.config.ServiceSettings;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has operators' acts written down: who is about to do what and why, before it is done, and what
 * came of it after; to the log and to the topic of acts. What cannot be written is not done.
 * Thread-safe.
 */
final class Acts {
  private static final Logger LOG = LoggerFactory.getLogger(Acts.class);

  private final ActLog log;
  private final Holder self;
  private final boolean hasOperators;
  private final TimeSource time;

  Acts(ActLog log, ServiceSettings settings, TimeSource time) {
    this.log = log;
    this.self = Holder.parse(settings.engine().claim().store().holder());
    this.hasOperators = settings.tokenFile().isPresent();
    this.time = time;
  }

  /**
   * What is about to be done.
   *
   * @param name such as {@code release}
   * @param target a record, a redrive or an instance, printable
   * @param by who asked for it
   * @param reason why
   */
  record Intent(String name, String target, String by, String reason) {}

  /**
   * Why it is not known here what operators have done: the topic of acts has not been read yet.
   * Empty if it is known; without tokens nobody has done anything. Once it is known, it stays so.
   */
  Optional<String> whyNotKnown() {
    return hasOperators && !log.isKnown()
        ? Optional.of(log.fault().orElse("what operators have done has not been read yet"))
        : Optional.empty();
  }

  /**
   * Does nothing if what operators have done is known here.
   *
   * @throws Problem if it is not
   */
  void requireKnown() {
    whyNotKnown()
        .ifPresent(
            why -> {
              throw Problem.notNow(why);
            });
  }

  /**
   * Does it.
   *
   * @param result says in a few words what came of it
   * @throws Problem if it cannot be written down, or as the act itself throws it
   */
  <T> T perform(Intent intent, Callable<T> act, Function<? super T, String> result) {
    String id = RedriveId.random().text();
    try {
      write(id, intent, Phase.INTENT, null);
    } catch (NotWrittenException e) {
      throw Problem.notNow("not done, as it cannot be written down: " + e.getMessage());
    }
    try {
      T done = act.call();
      tellResult(id, intent, result.apply(done));
      return done;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      tellResult(id, intent, "interrupted; it may be done");
      throw Problem.notNow("interrupted; it may be done");
    } catch (NotWrittenException e) {
      tellResult(id, intent, "failed: " + e.getMessage());
      throw Problem.notNow(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      tellResult(id, intent, "failed: " + e.getMessage());
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e); // cannot happen: no act throws anything else
    }
  }

  /** What was done stays done, whether or not that can be written. */
  private void tellResult(String id, Intent intent, String result) {
    try {
      write(id, intent, Phase.RESULT, OneLine.of(result));
    } catch (NotWrittenException e) {
      LOG.error("What came of act {} is not on the topic of acts: {}", id, e.getMessage());
    }
  }

  private void write(String id, Intent intent, Phase phase, @Nullable String result) {
    LOG.info(
        "Act {}: {} {} {}: {}{}",
        id,
        intent.by(),
        intent.name(),
        intent.target(),
        intent.reason(),
        result == null ? "" : " -> " + result);
    long _ =
        log.write(
            new ActMessage.Act(
                id,
                phase,
                intent.name(),
                intent.target(),
                intent.reason(),
                intent.by(),
                self.zone(),
                self.instance(),
                time.now().wall().toString(),
                result));
  }
}
