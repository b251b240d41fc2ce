package io.firstclaim.lock;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a record: 1 to {@value #MAX_BYTES} bytes, compared byte for byte, never as text.
 * Two IDs that differ in one byte are two records, whether or not they are valid UTF-8.
 *
 * <p>What else a store keeps claims on (resources, mutexes, redrives) is named likewise, each in a
 * {@link Space} of its own: no record's ID, whatever its bytes, is the ID of one of those.
 *
 * <p>The bytes come from outside and may be hostile. {@link #text()} and {@link #headerText()} are
 * safe to print and stay distinct for distinct IDs of a space; {@link #key(String)} is safe as a
 * store key. Immutable.
 */
public final class RecordId implements Comparable<RecordId> {
  /** The longest ID that is accepted. */
  public static final int MAX_BYTES = 1024;

  /** So many escapes in each other are looked at, or a print could take hundreds of decodings. */
  private static final int DEEPEST = 8;

  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  /** What an ID names. IDs of two spaces are never equal and never have one key in a store. */
  public enum Space {
    /** A record: all IDs that come from outside. */
    RECORD,
    /** What records touch, such as an account. */
    RESOURCE,
    /** A mutex. */
    MUTEX,
    /** A redrive, on which one process at a time works. */
    REDRIVE;

    /** The name in small letters, as messages have it. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** What precedes the bytes of an ID in its key: their number, by which no two spaces meet. */
    private int length(int bytes) {
      return switch (this) {
        case RECORD -> bytes;
        case RESOURCE -> -bytes;
        case MUTEX -> -(1 << 16 | bytes);
        case REDRIVE -> -(2 << 16 | bytes);
      };
    }
  }

  private final byte[] bytes;
  private final Space space;

  private RecordId(byte[] bytes) {
    this(bytes, Space.RECORD);
  }

  private RecordId(byte[] bytes, Space space) {
    if (bytes.length == 0 || bytes.length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "a record ID has 1 to " + MAX_BYTES + " bytes, this one has " + bytes.length);
    }
    this.bytes = bytes;
    this.space = space;
  }

  /**
   * The ID of these bytes, which are copied.
   *
   * @throws IllegalArgumentException if there are none or more than {@value #MAX_BYTES}
   */
  public static RecordId of(byte[] bytes) {
    return new RecordId(bytes.clone());
  }

  /**
   * The ID of this text's UTF-8 bytes.
   *
   * @throws IllegalArgumentException if there are none or more than {@value #MAX_BYTES}, or if
   *     UTF-8 cannot write the text: half a surrogate pair would become '?', and two IDs would
   *     become one
   */
  public static RecordId of(String text) {
    try {
      ByteBuffer utf8 = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[utf8.remaining()];
      utf8.get(bytes);
      return new RecordId(bytes);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          "a record ID is text that UTF-8 can write, this one has half a surrogate pair", e);
    }
  }

  /** What it names. */
  public Space space() {
    return space;
  }

  /** The ID of these bytes in that space. */
  public RecordId in(Space another) {
    return new RecordId(bytes, another);
  }

  /**
   * The ID of the resource of this name: something that records touch, such as an account. What is
   * no record's ID stays as it is.
   */
  public RecordId asResource() {
    return space == Space.RECORD ? in(Space.RESOURCE) : this;
  }

  /**
   * The ID of the mutex of this name. What is no record's ID stays as it is: a mutex of a resource
   * keeps out the records that touch it.
   */
  public RecordId asMutex() {
    return space == Space.RECORD ? in(Space.MUTEX) : this;
  }

  /** A copy of the bytes. */
  public byte[] bytes() {
    return bytes.clone();
  }

  /** How many bytes the ID has. */
  public int length() {
    return bytes.length;
  }

  /**
   * The name under which a store keeps this ID: SHA-256, in hex, of the namespace and the ID, each
   * preceded by its length, so that no two pairs share an input; the ID's tells its space, too.
   */
  public String key(String namespace) {
    byte[] name = namespace.getBytes(StandardCharsets.UTF_8);
    ByteBuffer input = ByteBuffer.allocate(8 + name.length + bytes.length);
    input.putInt(name.length).put(name).putInt(space.length(bytes.length)).put(bytes);
    return HexFormat.of().formatHex(Sha256.of(input.array()));
  }

  /**
   * The ID for people and JSON: as it is if it is UTF-8 without control characters, else
   * percent-encoded. Distinct IDs of a space have distinct texts.
   */
  public String text() {
    return escaped(RecordId::isPlainText);
  }

  /**
   * The record's ID that has this {@link #text()}. Every one is found again by its text.
   *
   * @throws IllegalArgumentException if no ID has it
   */
  public static RecordId parse(String text) {
    RecordId asItIs = RecordId.withText(text, false);
    RecordId found = asItIs == null ? RecordId.withText(text, true) : asItIs;
    if (found == null) {
      throw new IllegalArgumentException("no record ID is printed like this");
    }
    return found;
  }

  private static @Nullable RecordId withText(String text, boolean escaped) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > 3 * MAX_BYTES) {
      return null;
    }
    byte[] id = escaped ? decode(bytes) : bytes;
    if (id.length == 0 || id.length > MAX_BYTES) {
      return null;
    }
    RecordId found = new RecordId(id);
    return found.text().equals(text) ? found : null;
  }

  /**
   * The ID as an HTTP header value: as it is if it is printable ASCII without blanks at its ends,
   * else percent-encoded. Distinct IDs of a space have distinct values.
   */
  public String headerText() {
    return escaped(RecordId::isHeaderValue);
  }

  private String escaped(Predicate<byte[]> legal) {
    if (isPlainAscii()) {
      return new String(
          bytes, StandardCharsets.ISO_8859_1); // most IDs are, and this is the cheapest test
    }
    return mustEscape(bytes, legal, DEEPEST)
        ? encode(bytes)
        : new String(bytes, StandardCharsets.UTF_8);
  }

  /**
   * An illegal ID is escaped, and so is a legal one that looks like the escape of another: else the
   * two would print alike. An escape that decodes to a legal ID stays as it is; one that was
   * escaped too often is escaped once more, as an ID may hold hundreds.
   *
   * @param deepest how many escapes in each other are looked at
   */
  private static boolean mustEscape(byte[] id, Predicate<byte[]> legal, int deepest) {
    if (deepest == 0 || !legal.test(id)) {
      return true;
    }
    byte[] decoded = decode(id);
    return decoded.length < id.length
        && Arrays.equals(encode(decoded).getBytes(StandardCharsets.US_ASCII), id)
        && mustEscape(decoded, legal, deepest - 1);
  }

  private boolean isPlainAscii() {
    for (byte b : bytes) {
      if (!isPlainAscii(b)) {
        return false;
      }
    }
    return true;
  }

  /** Printable, and not part of an escape. */
  private static boolean isPlainAscii(byte b) {
    return b > ' ' && b < 0x7f && b != '%';
  }

  private static String encode(byte[] id) {
    StringBuilder out = new StringBuilder(id.length + 16);
    for (byte b : id) {
      if (isPlainAscii(b)) {
        out.append((char) b);
      } else {
        out.append('%').append(HEX.toHexDigits(b));
      }
    }
    return out.toString();
  }

  private static byte[] decode(byte[] id) {
    ByteBuffer out = ByteBuffer.allocate(id.length);
    for (int i = 0; i < id.length; i++) {
      if (id[i] == '%'
          && i + 2 < id.length
          && HexFormat.isHexDigit(id[i + 1])
          && HexFormat.isHexDigit(id[i + 2])) {
        out.put((byte) (HexFormat.fromHexDigit(id[++i]) << 4 | HexFormat.fromHexDigit(id[++i])));
      } else {
        out.put(id[i]);
      }
    }
    return Arrays.copyOf(out.array(), out.position());
  }

  private static boolean isHeaderValue(byte[] id) {
    for (byte b : id) {
      if (b < ' ' || b == 0x7f) {
        return false;
      }
    }
    return id[0] != ' ' && id[id.length - 1] != ' ';
  }

  private static boolean isPlainText(byte[] id) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(id))
          .codePoints()
          .noneMatch(RecordId::isUnprintable);
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  /** Controls, line separators, and the format characters that reorder or hide text. */
  private static boolean isUnprintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.PRIVATE_USE,
          Character.UNASSIGNED ->
          true;
      default -> false;
    };
  }

  @Override
  public int compareTo(RecordId other) {
    int bySpace = space.compareTo(other.space);
    return bySpace == 0 ? Arrays.compareUnsigned(bytes, other.bytes) : bySpace;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RecordId that
        && space == that.space
        && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** The same as {@link #text()}. */
  @Override
  public String toString() {
    return text();
  }
}
