/** Runs the model checker TLC on the protocol's model, {@code docs/tla}. */
@NullMarked
package io.firstclaim.lock.model;

import org.jspecify.annotations.NullMarked;
