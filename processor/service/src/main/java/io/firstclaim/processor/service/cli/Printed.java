package io.firstclaim.processor.service.cli;

import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * Lines for the standard output, all of them or an exception: {@link System#out} keeps to itself
 * that a disk is full. For one thread.
 */
final class Printed implements AutoCloseable {
  private final Writer out;

  Printed() {
    this(new FileOutputStream(FileDescriptor.out));
  }

  Printed(OutputStream to) {
    this.out = new BufferedWriter(new OutputStreamWriter(to, StandardCharsets.UTF_8));
  }

  void line(String text) {
    try {
      out.write(text + "\n");
    } catch (IOException e) {
      throw unwritten(e);
    }
  }

  /** Writes what is left; the output stays open. */
  @Override
  public void close() {
    try {
      out.flush();
    } catch (IOException e) {
      throw unwritten(e);
    }
  }

  private static IllegalStateException unwritten(IOException why) {
    return new IllegalStateException(
        "the output is not whole, as it cannot be written: " + why.getMessage());
  }
}
