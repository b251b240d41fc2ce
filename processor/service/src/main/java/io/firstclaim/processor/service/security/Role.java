package io.firstclaim.processor.service.security;

import java.util.List;
import java.util.Locale;

/** What somebody may do. An operator may do what a reader may; a claimer does nothing but claim. */
public enum Role {
  /** Sees what there is, and changes nothing. */
  READER,
  /** Sees what there is, and changes things. */
  OPERATOR,
  /** Claims over HTTP, and neither sees nor changes what others hold. */
  CLAIMER;

  /** The role as it is written in the token file. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether it may do what that one may. */
  boolean includes(Role other) {
    return texts().contains(other.text());
  }

  /** This role and all that it includes, as they are written. */
  List<String> texts() {
    return switch (this) {
      case READER -> List.of(READER.text());
      case OPERATOR -> List.of(READER.text(), OPERATOR.text());
      case CLAIMER -> List.of(CLAIMER.text());
    };
  }
}
