package io.firstclaim.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Has a {@code @KafkaListener} called once for each record ID, or a {@code @Scheduled} cron job run
 * once for each time that it is due, among all instances and zones that share a claim store.
 *
 * {@snippet :
 * @KafkaListener(topics = "payments")
 * @Deduplicated(name = "payments", id = "header:payment-id")
 * void pay(Payment payment) { ... }
 * }
 *
 * <p>A record's offset moves once its listener has returned and that is recorded, if it was done
 * before, or if it was given up and its dead letter is acknowledged. Until then it is kept and
 * delivered again: while another instance is at it, before a failed attempt is due again, and while
 * the store does not answer. {@code firstclaim.retry.*} says how often a listener that throws is
 * tried; then the record goes to {@code firstclaim.dead-letter.topic}.
 *
 * <p>"Once" is as strong as the listener lets it be: if its process dies after the work is done and
 * before that is recorded, it is called again. Let its last effect be one that can be repeated.
 *
 * <p>What cannot be kept so stops the application's start: batches, listeners that return before
 * their work ends, containers with transactions, {@code @RetryableTopic}, an error handler of one's
 * own. On a class it is for a {@code @KafkaListener} there and all its {@code @KafkaHandler}s.
 *
 * {@snippet :
 * @Scheduled(cron = "0 0 3 * * *")
 * @Deduplicated(name = "nightly")
 * void bill() { ... }
 * }
 *
 * <p>What is claimed of a job is its name and the time that it is due. One instance runs it, and
 * the others wait: they take it over if that one dies, and try it again, as {@code
 * firstclaim.retry.*} says, if it throws. Each such job has a thread of its own to wait on. Fixed
 * rates and delays stop the start: no two instances share their times.
 */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Deduplicated {
  /**
   * Names what is done once, such as {@code payments}: another listener, which does something else
   * with the same records, has another name, and the same listener in another zone has the same.
   * Whoever changes it has all records done again that come again. 1 to 100 of {@code a-z A-Z 0-9 .
   * _ -}.
   */
  String name();

  /**
   * Where the ID is, the first that yields: a comma-separated list of {@code header:NAME}, {@code
   * key}, {@code json:/pointer} and {@code sha256:value}. A record without one is given up at once.
   * The last two want values that are text or bytes. A listener must have it, a job must not.
   */
  String id() default "";
}
