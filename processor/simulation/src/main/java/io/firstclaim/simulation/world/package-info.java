/** Machines, their threads and clocks, all run by one thread: a seed says what happens next. */
@NullMarked
package io.firstclaim.simulation.world;

import org.jspecify.annotations.NullMarked;
