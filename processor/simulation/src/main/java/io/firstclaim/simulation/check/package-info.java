/** What happened, and what must not have: a class for each invariant of docs/protocol.md. */
@NullMarked
package io.firstclaim.simulation.check;

import org.jspecify.annotations.NullMarked;
