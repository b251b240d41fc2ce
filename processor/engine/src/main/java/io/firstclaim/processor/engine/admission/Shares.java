package io.firstclaim.processor.engine.admission;

/**
 * How partitions share what there is only so much of. Half of it is set aside for them, an even
 * part for each; the other half is common, and whoever comes first has it. So a lone busy partition
 * gets more than half of all, and however many are blocked, each of the others has its part.
 *
 * @param most how much there is
 * @param partitions how many share it; with none, all of it is common
 */
public record Shares(long most, int partitions) {

  /** The part of each partition that nobody else can take. */
  public long setAside() {
    return partitions == 0 ? 0 : most / 2 / partitions;
  }

  private long common() {
    return most - setAside() * partitions;
  }

  /**
   * Whether a partition may take more.
   *
   * @param own what it has
   * @param commonTaken what all have beyond what is set aside for them
   */
  public boolean allow(long own, long commonTaken) {
    return own < setAside() || commonTaken < common();
  }

  /** Whether that is possible, as far as can be told by what all have together. */
  boolean mayAllow(long own, long all) {
    return own < setAside() || all < most;
  }
}
