/**
 * Who may ask and change what over HTTP: tokens and their roles, the rule that every request
 * passes, limits on slow requests, and headers on every answer.
 */
@NullMarked
package io.firstclaim.processor.service.security;

import org.jspecify.annotations.NullMarked;
