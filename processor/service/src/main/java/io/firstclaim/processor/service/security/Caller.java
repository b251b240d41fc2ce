package io.firstclaim.processor.service.security;

/**
 * Somebody who has shown a token.
 *
 * @param name as in the token file: printable ASCII without blanks
 * @param role what he may do
 */
public record Caller(String name, Role role) {}
