package io.firstclaim.simulation;

import java.util.Set;

/**
 * A bug, planted by a replacement of the product's source text.
 *
 * @param name what is wrong
 * @param file the source, below the project's folder
 * @param text what stands there
 * @param replacement what the bug has in its place
 * @param invariants one of which must be found broken; 0: an engine ends by a defect
 */
record Mutant(String name, String file, String text, String replacement, Set<Integer> invariants) {
  @Override
  public String toString() {
    return name;
  }
}
