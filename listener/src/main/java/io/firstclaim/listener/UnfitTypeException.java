package io.firstclaim.listener;

/** A listener's deserializer gives what no ID can be read from. */
final class UnfitTypeException extends RuntimeException {
  private static final long serialVersionUID = 1;

  UnfitTypeException(String what, Object given) {
    super(
        "the record's %s is a %s, of which the bytes are not known: use StringDeserializer or"
                .formatted(what, given.getClass().getName())
            + " ByteArrayDeserializer, with a message converter for the listener's own type, or"
            + " have the ID in a header");
  }
}
