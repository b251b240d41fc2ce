package io.firstclaim.processor.service.security;

import java.util.List;
import java.util.Locale;

/** What somebody may do. Each role may do what those before it may. */
public enum Role {
  /** Asks. */
  READER,
  /** Asks, and changes things. */
  OPERATOR;

  /** The role as it is written in the token file. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** This role and all that it includes, as they are written. */
  List<String> texts() {
    return switch (this) {
      case READER -> List.of(READER.text());
      case OPERATOR -> List.of(READER.text(), OPERATOR.text());
    };
  }
}
