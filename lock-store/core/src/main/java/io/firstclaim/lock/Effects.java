package io.firstclaim.lock;

/**
 * Writes to the database that the claims are kept in, to be made in the very transaction that
 * records a completion: they happen if and only if that is recorded, and so once. Each store that
 * has transactions has a kind of its own; to everybody else they are opaque.
 */
public interface Effects {}
