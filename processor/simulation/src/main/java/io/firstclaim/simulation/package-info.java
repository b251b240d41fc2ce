/** Two zones of whole engines in a world that a seed decides on. */
@NullMarked
package io.firstclaim.simulation;

import org.jspecify.annotations.NullMarked;
