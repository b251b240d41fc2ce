package io.firstclaim.lock;

/**
 * Writes to the database that claims or a board are kept in, to be made in the very transaction
 * that records a completion, or moves the board's items: they happen if and only if that does, and
 * so once. Each store that has transactions has a kind of its own; to everybody else they are
 * opaque.
 */
public interface Effects {}
