/** {@code Idempotency-Key} on handlers of controllers, by a filter and an advice. */
@NullMarked
package io.firstclaim.micronaut.web;

import org.jspecify.annotations.NullMarked;
