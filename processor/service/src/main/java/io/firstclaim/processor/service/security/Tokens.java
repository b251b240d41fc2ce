package io.firstclaim.processor.service.security;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The tokens of a token file, known by their hashes alone: a line each, {@code NAME ROLE
 * SHA256-OF-THE-TOKEN} in hex; {@code #} begins a comment. A name may have several tokens, so that
 * one can be replaced without a gap. Immutable.
 */
final class Tokens {
  private static final Pattern NAME = Pattern.compile("[!-~&&[^#]]{1,64}");
  private static final Pattern LINE =
      Pattern.compile("(" + NAME + ")\\s+(reader|operator|claimer)\\s+([0-9a-fA-F]{64})");

  private final List<Token> tokens;

  private Tokens(List<Token> tokens) {
    this.tokens = List.copyOf(tokens);
  }

  private static final class Token {
    private final Caller caller;
    private final byte[] hash;

    private Token(Caller caller, byte[] hash) {
      this.caller = caller;
      this.hash = hash;
    }
  }

  /**
   * Reads them.
   *
   * @param name of the file, for people
   * @throws WrongTokenFileException if a line is none of a token, a comment and empty
   */
  static Tokens parse(String name, String content) {
    List<Token> tokens = new ArrayList<>();
    int number = 0;
    for (String text : content.lines().toList()) {
      number++;
      int comment = text.indexOf('#'); // not by a pattern, to which other characters end a line too
      String line = (comment < 0 ? text : text.substring(0, comment)).strip();
      if (!line.isEmpty()) {
        tokens.add(token(name, number, line, tokens));
      }
    }
    return new Tokens(tokens);
  }

  private static Token token(String file, int number, String line, List<Token> before) {
    Matcher parts = LINE.matcher(line);
    if (!parts.matches()) {
      throw new WrongTokenFileException(
          "%s, line %d: give NAME ROLE SHA256-OF-THE-TOKEN, the role reader, operator or claimer, the hash in 64 hex digits"
              .formatted(file, number));
    }
    byte[] hash = HexFormat.of().parseHex(parts.group(3));
    if (before.stream().anyMatch(other -> MessageDigest.isEqual(other.hash, hash))) {
      throw new WrongTokenFileException(
          "%s, line %d: the hash is in a line before it; give each its own token"
              .formatted(file, number));
    }
    Role role = Role.valueOf(parts.group(2).toUpperCase(Locale.ROOT));
    return new Token(new Caller(parts.group(1), role), hash);
  }

  /**
   * The line of a token, which holds its hash alone.
   *
   * @throws WrongTokenFileException if nobody can have that name
   */
  static String line(String name, Role role, String token) {
    if (!NAME.matcher(name).matches()) {
      throw new WrongTokenFileException(
          "a name has 1 to 64 characters of printable ASCII, without blanks and #");
    }
    return "%s %s %s".formatted(name, role.text(), HexFormat.of().formatHex(sha256(token)));
  }

  /**
   * Whose token this is. Takes as long whichever it is, if any: nobody learns from the time how
   * near a guess was.
   */
  Optional<Caller> callerOf(String token) {
    byte[] hash = sha256(token);
    Optional<Caller> caller = Optional.empty();
    for (Token known : tokens) {
      if (MessageDigest.isEqual(known.hash, hash)) {
        caller = Optional.of(known.caller);
      }
    }
    return caller;
  }

  private static byte[] sha256(String token) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(token.getBytes(UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e); // cannot happen: every Java platform has this hash
    }
  }
}
