package io.firstclaim.micronaut;

import io.micronaut.aop.Around;
import io.micronaut.context.annotation.Executable;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Has a handler of a {@code @Controller} called once for each {@code Idempotency-Key} that clients
 * send, among all instances that share a claim store; whoever comes again with it is given the
 * stored answer. It is what draft-ietf-httpapi-idempotency-key-header-07 describes.
 *
 * {@snippet :
 * @Post("/payments")
 * @IdempotencyKey
 * Receipt pay(@Body Payment payment) { ... }
 * }
 *
 * <p>A key belongs to a principal, a method and a route. An answer of 2xx is stored, with its
 * headers but no cookies, before the client gets it. Any other is passed on and not stored, and the
 * next request with that key calls the handler again.
 *
 * <p>"Once" is as strong as the handler lets it be: if its process dies after the work is done and
 * before that is recorded, it is called again. Let its last effect be one that can be repeated.
 *
 * <p>A handler that answers later (futures, streams) or to a safe method stops the application's
 * start, and so does a method that is no handler. Who calls the method by other means than a
 * request is told by an exception that nothing is claimed.
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Around
@Executable
public @interface IdempotencyKey {
  /** Whether a request without a key is refused with 400; else the handler is simply called. */
  boolean required() default true;
}
