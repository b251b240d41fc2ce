/** {@code Idempotency-Key} on handlers of servlet applications, by a filter. */
@NullMarked
package io.firstclaim.spring.web;

import org.jspecify.annotations.NullMarked;
