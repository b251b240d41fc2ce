package io.firstclaim.processor.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.commonmark.ext.heading.anchor.IdGenerator;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.HtmlInline;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Where the documents of this tree point to, and where its other files say that they do. */
class DocumentsTest {
  private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
  private static final Pattern LEFT_OUT = Pattern.compile("target|node_modules|\\.git|\\.idea");
  private static final Pattern ANCHOR = Pattern.compile("\\b(?:id|name)=\"([^\"]+)\"");

  /** A document as comments, messages and configurations name it, from the root of the tree. */
  private static final Pattern NAMED =
      Pattern.compile("(?<![\\w/.-])((?:docs|docker)/[\\w/.-]+\\.md)(?:#([\\w-]+))?");

  private static final Pattern WITH_TEXT =
      Pattern.compile(
          ".*\\.(java|xml|ya?ml|json|properties|html|js|mjs|ts|css|py|sh|tpl|tla|cfg)|Dockerfile|smoke|run");

  private static Map<Path, Page> pages = Map.of();
  private static List<Path> files = List.of();

  /** What a document points to, and what in it can be pointed to. */
  private record Page(List<String> targets, Set<String> anchors) {}

  /** Gathers a document's targets and anchors; code is neither. */
  private static final class Reading extends AbstractVisitor {
    private final List<String> targets = new ArrayList<>();
    private final Set<String> anchors = new HashSet<>();
    private final IdGenerator ids = IdGenerator.builder().build();

    @Override
    public void visit(Link link) {
      targets.add(link.getDestination());
      visitChildren(link);
    }

    @Override
    public void visit(Image image) {
      targets.add(image.getDestination());
      visitChildren(image);
    }

    @Override
    public void visit(Heading heading) {
      anchors.add(ids.generateId(words(heading)));
      visitChildren(heading);
    }

    @Override
    public void visit(HtmlInline html) {
      html(html.getLiteral());
    }

    @Override
    public void visit(HtmlBlock html) {
      html(html.getLiteral());
    }

    private void html(String text) {
      ANCHOR.matcher(text).results().forEach(found -> anchors.add(found.group(1)));
    }

    private static String words(Node node) {
      StringBuilder words = new StringBuilder();
      node.accept(
          new AbstractVisitor() {
            @Override
            public void visit(Text text) {
              words.append(text.getLiteral());
            }

            @Override
            public void visit(Code code) {
              words.append(code.getLiteral());
            }
          });
      return words.toString();
    }
  }

  @BeforeAll
  static void read() throws IOException {
    try (Stream<Path> all = Files.walk(ROOT)) {
      files =
          all.filter(
                  file ->
                      Stream.iterate(file, above -> !above.equals(ROOT), Path::getParent)
                          .noneMatch(part -> LEFT_OUT.matcher(name(part)).matches()))
              .filter(Files::isRegularFile)
              .toList();
    }
    pages =
        files.stream()
            .filter(file -> name(file).endsWith(".md"))
            .collect(Collectors.toMap(file -> file, DocumentsTest::page));
  }

  private static String name(Path file) {
    return String.valueOf(file.getFileName());
  }

  private static Page page(Path document) {
    Reading reading = new Reading();
    Parser.builder().build().parse(text(document)).accept(reading);
    return new Page(reading.targets, reading.anchors);
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  /** What is wrong with a link; empty if nothing is. */
  private static Optional<String> fault(Path from, String target) {
    if (target.matches("(https?|mailto):.*")) {
      return isUri(target) ? Optional.empty() : Optional.of(target + " is no address");
    }
    String[] parts = target.split("#", 2);
    String path = URLDecoder.decode(parts[0].replace("+", "%2B"), StandardCharsets.UTF_8);
    Path to = path.isEmpty() ? from : from.resolveSibling(path).normalize();
    if (!to.startsWith(ROOT)) {
      return Optional.of(target + " leaves the tree");
    }
    if (!Files.exists(to)) {
      return Optional.of(target + " is not there");
    }
    return parts.length < 2 ? Optional.empty() : anchorFault(to, parts[1]);
  }

  private static boolean isUri(String target) {
    try {
      URI address = URI.create(target);
      return address.getHost() != null || target.startsWith("mailto:");
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static Optional<String> anchorFault(Path to, String anchor) {
    Page page = pages.get(to);
    if (page == null) {
      return Optional.of("#%s: %s has no headings".formatted(anchor, ROOT.relativize(to)));
    }
    return page.anchors().contains(anchor)
        ? Optional.empty()
        : Optional.of(
            "#%s: no heading of %s is called so; it has %s"
                .formatted(anchor, ROOT.relativize(to), page.anchors()));
  }

  @Test
  void everyLinkOfADocument_leadsToAFileAndAHeadingThatAreThere() {
    List<String> faults = new ArrayList<>();
    pages.forEach(
        (document, page) ->
            page.targets()
                .forEach(
                    target ->
                        fault(document, target)
                            .ifPresent(
                                wrong -> faults.add("%s: %s".formatted(shown(document), wrong)))));
    assertThat(pages.values().stream().mapToInt(page -> page.targets().size()).sum())
        .as("links that were found at all")
        .isGreaterThan(200);
    assertThat(faults).isEmpty();
  }

  /** Such as a message's remedy, or an alert's runbook. */
  @Test
  void everyDocumentThatAnotherFileNames_isThere_withItsHeading() {
    List<String> faults = new ArrayList<>();
    files.stream()
        .filter(file -> WITH_TEXT.matcher(name(file)).matches())
        .filter(file -> !name(file).equals("DocumentsTest.java"))
        .forEach(
            file ->
                NAMED
                    .matcher(text(file))
                    .results()
                    .forEach(
                        found -> {
                          Path to = ROOT.resolve(found.group(1));
                          if (!Files.exists(to)) {
                            faults.add("%s: %s is not there".formatted(shown(file), to));
                          } else if (found.group(2) != null) {
                            anchorFault(to, found.group(2))
                                .ifPresent(wrong -> faults.add(shown(file) + ": " + wrong));
                          }
                        }));
    assertThat(faults).isEmpty();
  }

  /** Nobody finds a page that no other page points to. */
  @Test
  void everyDocument_isReachedFromTheReadme() {
    Set<Path> reached = new HashSet<>();
    List<Path> next = new ArrayList<>(List.of(ROOT.resolve("README.md")));
    while (!next.isEmpty()) {
      Path document = next.removeLast();
      if (pages.containsKey(document) && reached.add(document)) {
        pages.get(document).targets().stream()
            .filter(target -> !target.matches("[a-z]+:.*"))
            .map(target -> target.split("#", 2)[0])
            .filter(path -> !path.isEmpty())
            .forEach(path -> next.add(document.resolveSibling(path).normalize()));
      }
    }
    assertThat(pages.keySet())
        .filteredOn(
            document ->
                document.startsWith(ROOT.resolve("docs"))
                    || document.startsWith(ROOT.resolve("docker")))
        .isNotEmpty()
        .isSubsetOf(reached);
  }

  private static String shown(Path file) {
    return ROOT.relativize(file).toString();
  }
}
