package io.firstclaim.processor.service.security;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of {@code firstclaim.admin.token-file}, read again when somebody asks and a second has
 * passed: a token that is taken out or put in counts from then on. If what is read then is wrong,
 * the tokens before stay in force, and one line of the log says so. Thread-safe.
 */
public final class TokenFile {
  private static final Logger LOG = LoggerFactory.getLogger(TokenFile.class);
  private static final Duration READ_AFTER = Duration.ofSeconds(1);

  /** Several thousand tokens. */
  private static final int MAX_BYTES = 1 << 20;

  private final Path file;
  private final TimeSource time;
  private Moment lastRead;
  private String content;
  private Tokens tokens;
  private @Nullable String fault;

  /**
   * Reads the file.
   *
   * @throws WrongTokenFileException if it cannot be read, or a line of it is wrong
   */
  public TokenFile(Path file, TimeSource time) {
    this.file = file;
    this.time = time;
    this.lastRead = time.now();
    this.content = read(file);
    this.tokens = Tokens.parse(file.toString(), content);
  }

  /**
   * Does nothing if the file can be used now.
   *
   * @throws WrongTokenFileException otherwise
   */
  public static void requireRight(Path file) {
    Tokens _ = Tokens.parse(file.toString(), read(file));
  }

  /**
   * What somebody may do who has this token; empty if it is nobody's.
   *
   * @param file of tokens
   * @throws WrongTokenFileException if it cannot be used now
   */
  public static Optional<Role> roleIn(Path file, String token) {
    return Tokens.parse(file.toString(), read(file)).callerOf(token).map(Caller::role);
  }

  /**
   * The token in a file that has nothing else.
   *
   * @throws WrongTokenFileException if there is none in it, or it cannot be read
   */
  public static String token(Path file) {
    String token = read(file).strip();
    if (!token.matches("[!-~]{1,1000}")) {
      throw new WrongTokenFileException("%s has no token: give a file with one".formatted(file));
    }
    return token;
  }

  /**
   * Makes a token of 256 random bits and adds a line with its hash to a file, which need not be
   * there yet. The token itself is kept nowhere.
   *
   * @param name of whoever is to have it: 1 to 64 of printable ASCII, without blanks and {@code #}
   * @return the token, in hex
   * @throws WrongTokenFileException if the name is wrong, and nothing is written; or if a line of
   *     the file was wrong before
   * @throws IOException if the file cannot be read or written
   */
  public static String add(Path file, String name, Role role) throws IOException {
    byte[] random = new byte[32];
    new SecureRandom().nextBytes(random);
    String token = HexFormat.of().formatHex(random);
    String before = Files.exists(file) ? read(file) : "";
    String line =
        (before.isEmpty() || before.endsWith("\n") ? "" : "\n")
            + Tokens.line(name, role, token)
            + "\n";
    Tokens _ = Tokens.parse(file.toString(), before + line);
    Files.writeString(file, line, ISO_8859_1, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    return token;
  }

  /** Whose token this is, if anybody's. */
  public Optional<Caller> callerOf(String token) {
    return current().callerOf(token);
  }

  private synchronized Tokens current() {
    Moment now = time.now();
    if (now.since(lastRead).compareTo(READ_AFTER) >= 0) {
      lastRead = now;
      readAgain();
    }
    return tokens;
  }

  private void readAgain() {
    try {
      String now = read(file);
      if (!now.equals(content)) {
        tokens = Tokens.parse(file.toString(), now);
        content = now;
        LOG.info("Tokens are those of {} as it is now", file);
      }
      fault = null;
    } catch (WrongTokenFileException e) {
      String found = Objects.requireNonNullElse(e.getMessage(), "");
      if (!found.equals(fault)) { // each fault is told once, not with each request
        LOG.error("The tokens before stay in force, until this is mended: {}", found);
      }
      fault = found;
    }
  }

  private static String read(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new WrongTokenFileException("%s: give at most 1 MiB".formatted(file));
      }
      return new String(bytes, ISO_8859_1);
    } catch (IOException e) {
      throw new WrongTokenFileException(
          "%s cannot be read (%s): name a file of tokens that this process may read"
              .formatted(file, e.getClass().getSimpleName()));
    }
  }
}
