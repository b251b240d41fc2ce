/**
 * What a framework's web handlers need to be called once for each {@code Idempotency-Key}: which
 * key a request has, what is kept of an answer, why a request is not done. Knows no framework.
 */
@NullMarked
package io.firstclaim.listener.web;

import org.jspecify.annotations.NullMarked;
