package io.firstclaim.lock.document;

import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * The name of a document, such as {@code metastore/dataset_registry.json}: 1 to 512 letters, digits
 * and {@code !-_.*'()=/}, which every store takes as they are (<a
 * href="https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html">S3's safe
 * characters</a>, and the equals sign), no part of which is {@code .} or {@code ..}.
 */
public record DocumentKey(String value) {
  private static final Pattern LEGAL = Pattern.compile("[A-Za-z0-9!_.*'()=/-]{1,512}");

  /**
   * Checks the name.
   *
   * @throws IllegalArgumentException if it is not a legal one
   */
  public DocumentKey {
    if (!LEGAL.matcher(value).matches()) {
      throw new IllegalArgumentException(
          "a document key has 1 to 512 of A-Z a-z 0-9 and !-_.*'()=/; this one, of %d, has others"
              .formatted(value.length()));
    }
    if (Arrays.asList(value.split("/", -1)).stream()
        .anyMatch(part -> part.isEmpty() || part.equals(".") || part.equals(".."))) {
      throw new IllegalArgumentException(
          "a document key has no empty part and no part . or ..: " + value);
    }
  }

  /** The document of this name. */
  public static DocumentKey of(String value) {
    return new DocumentKey(value);
  }

  @Override
  public String toString() {
    return value;
  }
}
