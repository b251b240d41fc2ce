/** Rewrites classes as they are loaded, so that a world can be simulated around them. */
package io.firstclaim.simulation.agent;
