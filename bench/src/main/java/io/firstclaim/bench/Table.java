package io.firstclaim.bench;

import java.util.ArrayList;
import java.util.List;

/** The measurements as a table, and whether all targets were met. */
final class Table {
  private record Row(String measured, String figure, String baseline, String ratio, String target) {
    String line() {
      return "| %s | %s | %s | %s | %s |".formatted(measured, figure, baseline, ratio, target);
    }
  }

  private final List<Row> rows = new ArrayList<>();

  /** Adds a row and prints it, as progress. */
  void add(
      String measured, String figure, String baseline, String ratio, String target, boolean met) {
    Row row = new Row(measured, figure, baseline, ratio, target + (met ? "" : " **missed**"));
    rows.add(row);
    System.out.println(row.line());
  }

  /** Adds a row of a figure that has no target. */
  void add(String measured, String figure, String baseline, String ratio) {
    add(measured, figure, baseline, ratio, "", true);
  }

  void print() {
    System.out.println();
    System.out.println("| measured | figure | baseline | ratio | target |");
    System.out.println("|---|---|---|---|---|");
    rows.forEach(row -> System.out.println(row.line()));
  }
}
