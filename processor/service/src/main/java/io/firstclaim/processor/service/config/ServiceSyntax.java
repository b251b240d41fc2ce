package io.firstclaim.processor.service.config;

import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.engine.setting.Syntax;
import io.firstclaim.processor.service.handler.HttpHandler;
import io.firstclaim.processor.service.security.TokenFile;
import io.firstclaim.processor.service.security.WrongTokenFileException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** How the values of the service's own settings are written, beside what every setting may be. */
final class ServiceSyntax {
  private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9._-]+");
  private static final Pattern HOST_AND_PORT =
      Pattern.compile("(\\[[0-9a-fA-F:.]+]|[a-zA-Z0-9._:-]{1,253}):([1-9]\\d{0,4})");

  static final Syntax<String> BUCKET =
      Syntax.text("[a-zA-Z0-9._-]{3,63}", "a bucket has 3 to 63 of a-z A-Z 0-9 . _ -");

  /** Where to post to. */
  static final Syntax<URI> HTTP_URL = new Syntax<>(ServiceSyntax::httpUrl, URI::toString);

  /** Statuses of HTTP answers. */
  static final Syntax<Set<Integer>> STATUSES = statuses();

  /** S3 takes no smaller part except the last; no Kafka record is larger than the most. */
  static final Syntax<Long> PART_SIZE = partSize();

  static final Syntax<Path> FOLDER = new Syntax<>(ServiceSyntax::folder, Path::toString);

  static final Syntax<Address> ADDRESS = new Syntax<>(ServiceSyntax::address, Address::toString);

  static final Syntax<Path> FILE = new Syntax<>(ServiceSyntax::file, Path::toString);

  /** A file of tokens that can be read now. */
  static final Syntax<Path> TOKEN_FILE = new Syntax<>(ServiceSyntax::tokenFile, Path::toString);

  private ServiceSyntax() {}

  private static URI httpUrl(String text) {
    URI url = Syntax.URL.parse(text);
    HttpHandler.requireUsable(url);
    return url;
  }

  private static Syntax<Set<Integer>> statuses() {
    String remedy = "give statuses from 300 to 599, comma-separated, such as 404,500";
    Syntax<List<Integer>> list = Syntax.list(Syntax.number(300, 599, remedy));
    return new Syntax<>(
        text -> Set.copyOf(list.parse(text)),
        statuses ->
            statuses.stream().sorted().map(String::valueOf).collect(Collectors.joining(",")));
  }

  private static Syntax<Long> partSize() {
    String remedy = "give a size from 5MB to 1024MB, such as 8MB";
    return Syntax.size(remedy).where(bytes -> 5L << 20 <= bytes && bytes <= 1024L << 20, remedy);
  }

  private static Path folder(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("give the path of a folder", e);
    }
  }

  private static Path file(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("give the path of a file", e);
    }
  }

  private static Path tokenFile(String text) {
    try {
      Path file = Path.of(text);
      TokenFile.requireRight(file);
      return file;
    } catch (WrongTokenFileException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /** An IP address of version 6 may be in brackets or not: Kubernetes gives a pod's without. */
  private static Address address(String text) {
    Matcher parts = HOST_AND_PORT.matcher(text);
    if (parts.matches()) {
      String host = parts.group(1).replaceAll("[\\[\\]]", "");
      boolean bare = host.equals(parts.group(1));
      if ((bare && NAME.matcher(host).matches()) || isIpv6(host)) {
        return new Address(host, Integer.parseInt(parts.group(2)));
      }
    }
    throw new IllegalArgumentException("give host:port, such as processor-1:8080");
  }

  private static boolean isIpv6(String text) {
    try {
      InetAddress _ = Inet6Address.ofLiteral(text);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
