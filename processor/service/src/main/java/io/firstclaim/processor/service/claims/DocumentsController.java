package io.firstclaim.processor.service.claims;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.document.Document;
import io.firstclaim.lock.document.DocumentKey;
import io.firstclaim.lock.document.DocumentStore;
import io.firstclaim.lock.document.OutcomeUnknownException;
import io.firstclaim.lock.document.SharedDocuments;
import io.firstclaim.processor.service.admin.Problem;
import io.firstclaim.processor.service.config.InstanceSettings;
import io.firstclaim.processor.service.config.ServesClaims;
import io.firstclaim.processor.service.store.LockStore;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Delete;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Patch;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.authentication.Authentication;
import java.net.URLDecoder;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Shared documents over HTTP: JSON that many writers change at once, without losing a change. */
@Controller("/api/documents")
@ExecuteOn(ClaimThreads.NAME)
@Requires(condition = ServesClaims.class)
class DocumentsController {
  private static final String PATH = "/api/documents/";

  /** How long a write is tried while others are faster. */
  static final Duration TRIES_FOR = Duration.ofSeconds(10);

  private static final String ANY = "*";

  private final Grants grants;
  private final DocumentStore store;
  private final SharedDocuments documents;
  private final KeyedDeletions keyed;
  private final String prefix;
  private final String folder;

  DocumentsController(Grants grants, LockStore store, InstanceSettings settings) {
    this.grants = grants;
    this.store = store.documents();
    this.documents = new SharedDocuments(this.store, grants.time());
    this.keyed = new KeyedDeletions(grants, this.store, documents);
    this.prefix = store.documentsPrefix();
    this.folder = encoded(settings.store().claims().namespace()) + "/";
  }

  /** A namespace as a part of a document's key; no two have one. */
  static String encoded(String namespace) {
    StringBuilder out = new StringBuilder();
    for (byte b : namespace.getBytes(UTF_8)) {
      boolean plain = b == '-' || b == '_' || (b > 0 && Character.isLetterOrDigit(b));
      out.append(plain ? String.valueOf((char) b) : "=%02X".formatted(b));
    }
    return out.toString();
  }

  private DocumentKey key(HttpRequest<?> request) {
    String path = request.getPath();
    return key(path.substring(path.indexOf(PATH) + PATH.length()), prefix, folder);
  }

  /**
   * The key in a request.
   *
   * @param prefix what the store puts before it
   * @param folder what it begins with, but for that
   */
  static DocumentKey key(String given, String prefix, String folder) {
    try {
      String key = folder + URLDecoder.decode(given.replace("+", "%2B"), UTF_8);
      DocumentKey _ = DocumentKey.of(prefix + key); // whether there is room for it as it is stored
      return DocumentKey.of(key);
    } catch (IllegalArgumentException e) {
      throw Problem.wrong(
          "key",
          given,
          "give 1 to %d letters, digits and !-_.*'()=/ , with no empty part and no part . or .."
              .formatted(512 - prefix.length() - folder.length()));
    }
  }

  /**
   * A document, with its ETag.
   *
   * @param key percent-encoded; a slash may stand as it is
   */
  @Get("/{key:.+}")
  HttpResponse<?> get(HttpRequest<?> request, @PathVariable String key) {
    DocumentKey of = key(request);
    Optional<String> found = grants.answered(() -> store.find(of)).map(Document::content);
    requireMatch(request, found);
    String content = found.orElseThrow(() -> none(of));
    return condition(request, HttpHeaders.IF_NONE_MATCH)
            .filter(known -> matchesWeakly(known, found))
            .isPresent()
        ? HttpResponse.notModified().header(HttpHeaders.ETAG, etag(content))
        : answer(content);
  }

  private Problem none(DocumentKey key) {
    return Problem.missing(
        "there is no document %s: PATCH makes it"
            .formatted(key.value().substring(folder.length())));
  }

  private static HttpResponse<?> answer(String content) {
    return HttpResponse.ok(content)
        .contentType(
            MergePatch.isJson(content)
                ? MediaType.APPLICATION_JSON_TYPE
                : MediaType.TEXT_PLAIN_TYPE)
        .header(HttpHeaders.ETAG, etag(content));
  }

  /** The ETag of a text: a document that is again what it was has the ETag that it had. */
  private static String etag(String content) {
    return '"' + Fingerprint.of(content.getBytes(UTF_8)).toString().substring(0, 32) + '"';
  }

  /** The condition of a write does not hold. */
  private static Problem conditionFailed(String header, String given) {
    return new Problem(
        HttpStatus.PRECONDITION_FAILED,
        Problem.message(
            header, given, "the document is another one now; read it, and decide anew"));
  }

  /** Does nothing if a write may be made over what is there. */
  private static void requireCondition(HttpRequest<?> request, Optional<String> content) {
    requireMatch(request, content);
    condition(request, HttpHeaders.IF_NONE_MATCH)
        .filter(none -> matchesWeakly(none, content))
        .ifPresent(
            none -> {
              throw conditionFailed(HttpHeaders.IF_NONE_MATCH, none);
            });
  }

  private static void requireMatch(HttpRequest<?> request, Optional<String> content) {
    condition(request, HttpHeaders.IF_MATCH)
        .filter(match -> !matches(match, content))
        .ifPresent(
            match -> {
              throw conditionFailed(HttpHeaders.IF_MATCH, match);
            });
  }

  /** The header of this name; its lines are one list. */
  private static Optional<String> condition(HttpRequest<?> request, String name) {
    List<String> lines = request.getHeaders().getAll(name);
    return lines.isEmpty() ? Optional.empty() : Optional.of(String.join(",", lines));
  }

  /**
   * Whether an ETag matches though a proxy that compresses has made it a weak one (RFC 9110,
   * 13.1.2).
   */
  private static boolean matchesWeakly(String header, Optional<String> content) {
    return matches(header.replaceAll("(^|,)\\s*W/", "$1"), content);
  }

  private static boolean matches(String header, Optional<String> content) {
    return content
        .map(
            text ->
                header.strip().equals(ANY)
                    || Arrays.stream(header.split(","))
                        .map(String::strip)
                        .anyMatch(etag(text)::equals))
        .orElse(false);
  }

  /**
   * Changes a document by a JSON merge patch (RFC 7396), or makes it. What others write meanwhile
   * is kept: the patch is made on what is there then.
   *
   * @param key percent-encoded; a slash may stand as it is
   * @param body the patch
   */
  @Patch("/{key:.+}")
  @Consumes({"application/merge-patch+json", MediaType.APPLICATION_JSON})
  HttpResponse<?> patch(HttpRequest<?> request, @PathVariable String key, @Body String body) {
    DocumentKey of = key(request);
    WriteKey write = WriteKey.of(request);
    MergePatch patch =
        MergePatch.parse(body)
            .orElseThrow(
                () -> Problem.wrong("the body is no JSON: give a merge patch such as {\"a\":1}"));
    return grants.answered(
        () ->
            answer(
                made(
                    () ->
                        documents.update(
                            of,
                            TRIES_FOR,
                            write.nonce("document", of.value(), body),
                            old -> {
                              requireCondition(request, old);
                              return patch
                                  .applyTo(old)
                                  .orElseThrow(
                                      () ->
                                          Problem.conflict(
                                              "the document is no JSON, so nothing can be merged"
                                                  + " into it"));
                            }))));
  }

  /**
   * Deletes a document.
   *
   * @param key percent-encoded; a slash may stand as it is
   */
  @Delete("/{key:.+}")
  HttpResponse<?> delete(HttpRequest<?> request, Authentication caller, @PathVariable String key) {
    DocumentKey of = key(request);
    WriteKey write = WriteKey.of(request);
    Consumer<Optional<String>> requirement = found -> requireCondition(request, found);
    if (write.isGiven()) {
      Nonce nonce = write.nonce("deletion", of.value());
      var deletion = new KeyedDeletions.Deletion(of, nonce, caller.getName(), requirement);
      return grants.answered(
          () -> made(() -> keyed.once(deletion, DocumentsController::answerToDeleted)));
    }
    Optional<String> deleted =
        grants.answered(
            () ->
                made(
                    () ->
                        documents.deleteIf(of, TRIES_FOR, content -> meets(requirement, content))));
    if (deleted.isEmpty()) {
      requirement.accept(deleted);
      throw none(of);
    }
    return answer(deleted.get());
  }

  /** True, unless the requirement throws. */
  static boolean meets(Consumer<Optional<String>> requirement, String content) {
    requirement.accept(Optional.of(content));
    return true;
  }

  private static HttpResponse<?> answerToDeleted(Optional<String> content) {
    return content.isPresent() ? answer(content.get()) : HttpResponse.ok(new StateView.Absent());
  }

  /** A write of a document. */
  private interface Write<T> {
    T make() throws InterruptedException;
  }

  private static <T> T made(Write<T> write) {
    try {
      return write.make();
    } catch (ContendedException e) {
      throw Problem.conflict(String.valueOf(e.getMessage()));
    } catch (OutcomeUnknownException e) {
      throw Problem.notNow(e.getMessage() + "; read it before it is written again");
    } catch (IllegalArgumentException e) {
      throw new Problem(HttpStatus.REQUEST_ENTITY_TOO_LARGE, String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Problem.notNow("this instance stops: ask another one");
    }
  }
}
