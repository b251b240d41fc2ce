package io.firstclaim.processor.audit.topology;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;

/**
 * How values stand in the stores: the version of {@link OutcomesTopology}, then their fields. What
 * another version wrote is not guessed at: it counts as not there.
 */
final class Form {
  /** Writes fields. */
  @FunctionalInterface
  interface Writer {
    /** Writes them. */
    void write(DataOutput out) throws IOException;
  }

  /** Reads fields. */
  @FunctionalInterface
  interface Reader<T> {
    /** Reads them. */
    T read(DataInputStream in) throws IOException;
  }

  private Form() {}

  static byte[] write(Writer writer) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    DataOutputStream out = new DataOutputStream(bytes);
    try {
      out.writeByte(OutcomesTopology.VERSION);
      writer.write(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static <T> Optional<T> read(byte[] bytes, Reader<T> reader) {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    try {
      return in.readUnsignedByte() == OutcomesTopology.VERSION
          ? Optional.of(reader.read(in))
          : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // a name that a later release gave, or another value
    } catch (IOException e) {
      throw new UncheckedIOException(
          "a value of version %d is cut".formatted(OutcomesTopology.VERSION), e);
    }
  }

  static void writeBytes(DataOutput out, byte[] bytes) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  static byte[] readBytes(DataInputStream in) throws IOException {
    int length = in.readInt();
    // The value is in memory, so available() is all that is left.
    if (length < 0 || length > in.available()) {
      throw new EOFException();
    }
    return in.readNBytes(length);
  }
}
