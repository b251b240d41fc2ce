package io.firstclaim.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * What a run took.
 *
 * @param cpu of this whole process
 */
record Figure(Duration wall, Duration cpu, int records) {
  private static final OperatingSystemMXBean OS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** A run that is measured from now on. */
  static Start start() {
    return new Start(System.nanoTime(), OS.getProcessCpuTime());
  }

  /** The start of a run. */
  record Start(long wall, long cpu) {
    Figure end(long records) {
      return new Figure(
          Duration.ofNanos(System.nanoTime() - wall),
          Duration.ofNanos(OS.getProcessCpuTime() - cpu),
          (int) records);
    }
  }

  /** Measures from the first record counted to the last of so many. */
  static Figure measure(long records, LongSupplier count) throws InterruptedException {
    long before = await(1, count);
    Start start = start();
    return start.end(await(records, count) - before);
  }

  /** Waits for so many, and says how many there are. */
  static long await(long records, LongSupplier count) throws InterruptedException {
    while (true) {
      long counted = count.getAsLong();
      if (counted >= records) {
        return counted;
      }
      Thread.sleep(25);
    }
  }

  /** The same run, with so many records for each that was counted. */
  Figure times(int each) {
    return new Figure(wall, cpu, records * each);
  }

  double perSecond() {
    return records / (wall.toNanos() / 1e9);
  }

  double cpuMicros() {
    return cpu.toNanos() / 1e3 / records;
  }

  @Override
  public String toString() {
    return "%,.0f records/s, %.0f µs CPU each".formatted(perSecond(), cpuMicros());
  }
}
