package io.firstclaim.published;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/**
 * A published POM.
 *
 * @param file where it is
 */
record Artifact(Path file, Document pom) {
  static Artifact read(Path file) {
    try {
      DocumentBuilderFactory parsers = DocumentBuilderFactory.newInstance();
      parsers.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      return new Artifact(file, parsers.newDocumentBuilder().parse(file.toFile()));
    } catch (IOException | SAXException | ParserConfigurationException e) {
      throw new IllegalStateException(file + " is no POM", e);
    }
  }

  /** The texts of the elements at a path, such as {@code scm/url}. */
  List<String> texts(String path) {
    return elements(path).stream().map(Element::getTextContent).map(String::strip).toList();
  }

  /** The elements at a path. */
  List<Element> elements(String path) {
    List<Element> at = List.of(pom.getDocumentElement());
    for (String name : path.split("/", -1)) {
      at = at.stream().flatMap(element -> children(element, name).stream()).toList();
    }
    return at;
  }

  static List<Element> children(Element parent, String name) {
    List<Element> found = new ArrayList<>();
    for (Node each = parent.getFirstChild(); each != null; each = each.getNextSibling()) {
      if (each instanceof Element element && element.getTagName().equals(name)) {
        found.add(element);
      }
    }
    return found;
  }

  /** The text of an element's first child of this name; blank if it has none. */
  static String child(Element element, String name) {
    return children(element, name).stream()
        .map(each -> each.getTextContent().strip())
        .findFirst()
        .orElse("");
  }

  private String text(String name) {
    return texts(name).getFirst();
  }

  String name() {
    return text("artifactId");
  }

  String version() {
    return text("version");
  }

  boolean isLibrary() {
    return texts("packaging").stream().noneMatch("pom"::equals);
  }

  /** Its place in a repository. */
  Path folder() {
    return Path.of(text("groupId").replace('.', '/'), name(), version());
  }

  String fileName(String ending) {
    return "%s-%s%s".formatted(name(), version(), ending);
  }

  /** The jar that the build has left beside it; empty if there is none. */
  Optional<Path> jarOfTheBuild() {
    Path jar = file.resolveSibling(fileName(".jar"));
    return isLibrary() && Files.exists(jar) ? Optional.of(jar) : Optional.empty();
  }

  @Override
  public String toString() {
    return name();
  }
}
