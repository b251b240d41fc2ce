package io.firstclaim.processor.service.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.service.cli.AdminClient.Answer;
import io.firstclaim.processor.service.security.Role;
import io.firstclaim.processor.service.security.TokenFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code java -jar firstclaim.jar admin …}: asks and steers a running instance over HTTP and prints
 * its answer as JSON; {@code token} asks nobody, and makes one. Exit codes: 0; 1 if there is no
 * such thing, it was refused, or nobody answers; 2 if it was called wrongly. The token comes from a
 * file or from {@code FIRSTCLAIM_ADMIN_TOKEN}, never from an argument, which others on the machine
 * can see.
 */
@Command(
    name = "admin",
    description = "Asks and steers a running instance.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
final class AdminCommand {
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private static final String SCOPE =
      "instance, zone or application; the latter two outlive restarts.";

  private final Map<String, String> variables;

  /**
   * Commands to a running instance.
   *
   * @param variables of the environment
   */
  AdminCommand(Map<String, String> variables) {
    this.variables = variables;
  }

  /** Tells why a command has failed; returns the exit code. */
  static int failed(Exception fault) {
    System.err.println("firstclaim: " + OneLine.of(fault));
    return fault instanceof IOException ? 1 : 2;
  }

  /** Where to ask, and with which token. */
  static final class Where {
    @Option(
        names = "--url",
        description = "Of the instance; else 127.0.0.1 at MICRONAUT_SERVER_PORT or 8080.")
    private @Nullable URI url;

    @Option(
        names = "--token-file",
        description = "File with the token itself; else the variable FIRSTCLAIM_ADMIN_TOKEN.")
    private @Nullable Path tokenFile;

    private AdminClient client(Map<String, String> variables) throws IOException {
      URI to =
          url == null
              ? URI.create(
                  "http://127.0.0.1:" + variables.getOrDefault("MICRONAUT_SERVER_PORT", "8080"))
              : url;
      Optional<String> token =
          tokenFile == null
              ? Optional.ofNullable(variables.get("FIRSTCLAIM_ADMIN_TOKEN"))
              : Optional.of(Files.readString(tokenFile));
      return new AdminClient(to, token.map(String::strip).filter(text -> !text.isEmpty()));
    }
  }

  private int print(Answer answer) throws JsonProcessingException {
    String text = JSON.writeValueAsString(answer.body());
    if (answer.isGood()) {
      System.out.println(text);
      return answer.body().path("state").asText().equals("ABSENT") ? 1 : 0;
    }
    String error = answer.body().path("error").asText("HTTP " + answer.status());
    System.err.println("firstclaim: " + OneLine.of(error));
    return answer.status() == 400 ? 2 : 1;
  }

  private int get(Where where, String path) throws IOException, InterruptedException {
    return print(where.client(variables).get(path));
  }

  private int post(Where where, String path, Map<String, Object> body)
      throws IOException, InterruptedException {
    return print(where.client(variables).post(path, body));
  }

  @Command(description = "What is known of a record; 1 if that is nothing.")
  int record(
      @Mixin Where where,
      @Parameters(paramLabel = "ID", description = "As it is printed.") String id)
      throws IOException, InterruptedException {
    return get(where, "/api/records/" + AdminClient.encoded(id));
  }

  private int list(Where where, String name, int limit, @Nullable String after)
      throws IOException, InterruptedException {
    String query =
        (name.contains("?") ? "&" : "?")
            + "limit="
            + limit
            + (after == null ? "" : "&after=" + AdminClient.encoded(after));
    return get(where, "/api/" + name + query);
  }

  @Command(description = "Records that were given up.")
  int dead(
      @Mixin Where where,
      @Option(names = "--limit", defaultValue = "100") int limit,
      @Option(names = "--after") @Nullable String after)
      throws IOException, InterruptedException {
    return list(where, "dead", limit, after);
  }

  @Command(description = "Records begun long ago and not settled since.")
  int stuck(
      @Mixin Where where,
      @Option(names = "--limit", defaultValue = "100") int limit,
      @Option(names = "--after") @Nullable String after)
      throws IOException, InterruptedException {
    return list(where, "stuck", limit, after);
  }

  @Command(
      description = {
        "Records by their history: of each, the latest outcome for which all holds that is given.",
        "Those that begin with --prefix are found at once; else some thousands of records are looked"
            + " at for a page, and 'next' says where to go on, with --after."
      })
  int search(
      @Mixin Where where,
      @Mixin Search search,
      @Option(names = "--limit", defaultValue = "100") int limit,
      @Option(names = "--after") @Nullable String after)
      throws IOException, InterruptedException {
    return list(where, "search?" + search.query(), limit, after);
  }

  /** What is searched for. */
  static final class Search {
    @Option(names = "--prefix", description = "What the IDs begin with, as they are printed.")
    private @Nullable String prefix;

    @Option(names = "--zone", description = "That published the outcome.")
    private @Nullable String zone;

    @Option(names = "--outcome", description = "Such as DEAD or TAKEN_OVER.")
    private @Nullable String outcome;

    @Option(names = "--cause", description = "A part of the cause.")
    private @Nullable String cause;

    @Option(names = "--since", description = "ISO 8601.")
    private @Nullable String since;

    @Option(names = "--until", description = "ISO 8601.")
    private @Nullable String until;

    private String query() {
      Map<String, Object> given = new LinkedHashMap<>();
      put(given, "prefix", prefix);
      put(given, "zone", zone);
      put(given, "outcome", outcome);
      put(given, "cause", cause);
      put(given, "since", since);
      put(given, "until", until);
      return given.entrySet().stream()
          .map(each -> each.getKey() + "=" + AdminClient.encoded(String.valueOf(each.getValue())))
          .collect(Collectors.joining("&"));
    }
  }

  @Command(description = "Records that the instance has a lease on.")
  int held(
      @Mixin Where where,
      @Option(names = "--limit", defaultValue = "100") int limit,
      @Option(names = "--after") @Nullable String after)
      throws IOException, InterruptedException {
    return list(where, "held", limit, after);
  }

  @Command(description = "Records that the instance cannot go on with, and what they wait for.")
  int parked(
      @Mixin Where where,
      @Option(names = "--limit", defaultValue = "100") int limit,
      @Option(names = "--after") @Nullable String after)
      throws IOException, InterruptedException {
    return list(where, "parked", limit, after);
  }

  @Command(description = "The instance now.")
  int summary(@Mixin Where where) throws IOException, InterruptedException {
    return get(where, "/api/summary");
  }

  @Command(description = "What the instance has found out in shadow mode.")
  int shadow(@Mixin Where where) throws IOException, InterruptedException {
    return get(where, "/api/shadow");
  }

  @Command(description = "Frees a record that somebody holds.")
  int release(
      @Mixin Where where,
      @Parameters(paramLabel = "ID") String id,
      @Option(names = "--reason", required = true) String reason,
      @Option(
              names = "--token",
              paramLabel = "N",
              description = "Only if this grant still holds it, as 'admin record' shows it.")
          @Nullable Long token)
      throws IOException, InterruptedException {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("reason", reason);
    put(body, "token", token);
    return post(where, "/api/records/" + AdminClient.encoded(id) + "/release", body);
  }

  /** Dead records, or those that pass a filter, and what is to be said of them. */
  static final class Dead {
    @Parameters(paramLabel = "ID", arity = "0..*", description = "The only records.")
    private List<String> ids = new ArrayList<>();

    @Option(names = "--topic", description = "The input topic.")
    private @Nullable String topic;

    @Option(names = "--cause", description = "A part of the cause.")
    private @Nullable String cause;

    @Option(names = "--since", description = "ISO 8601.")
    private @Nullable String since;

    @Option(names = "--until", description = "ISO 8601.")
    private @Nullable String until;

    @Option(names = "--limit")
    private @Nullable Integer limit;

    @Option(names = "--reason")
    private @Nullable String reason;

    @Option(names = "--dry-run", description = "Only says what it would take.")
    private boolean dryRun;

    private Map<String, Object> body() {
      Map<String, Object> body = new LinkedHashMap<>();
      if (!ids.isEmpty()) {
        body.put("ids", ids);
      }
      put(body, "topic", topic);
      put(body, "cause", cause);
      put(body, "since", since);
      put(body, "until", until);
      put(body, "limit", limit);
      put(body, "reason", reason);
      body.put("dryRun", dryRun);
      return body;
    }

    private Map<String, Object> bodyOfOne() {
      Map<String, Object> body = new LinkedHashMap<>();
      put(body, "reason", reason);
      return body;
    }

    /** Whether it says which of many are meant, as goes with no ID. */
    private boolean hasFilter() {
      return Stream.of(topic, cause, since, until, limit).anyMatch(Objects::nonNull);
    }
  }

  @Command(description = "Redrives records, or all dead letters of a topic that pass the filter.")
  int redrive(
      @Mixin Where where,
      @Mixin Dead dead,
      @Option(names = "--rate", description = "Records a second.") @Nullable Integer rate,
      @Option(names = "--delay", description = "How long from now, such as 10m.")
          @Nullable String delay,
      @Option(
              names = "--may-be-done",
              description = "Even if its claim is forgotten, so that it may be done; one record.")
          boolean mayBeDone)
      throws IOException, InterruptedException {
    // A dry run is asked for as if for many records, even if there is only one.
    boolean isOne = dead.ids.size() == 1 && !dead.dryRun;
    if (mayBeDone && !isOne) {
      return wrong("--may-be-done goes with one ID, and with no --dry-run");
    }
    if (dead.hasFilter() && !dead.ids.isEmpty()) {
      return wrong("give either IDs, or --topic, --cause, --since, --until and --limit");
    }
    if (isOne && rate != null) {
      return wrong("--rate goes with more than one record");
    }
    Map<String, Object> body = isOne ? dead.bodyOfOne() : dead.body();
    put(body, "delay", delay);
    put(body, "rate", rate);
    if (mayBeDone) {
      body.put("mayBeDone", true);
    }
    return isOne ? actOnOne(where, "redrive", dead, body) : post(where, "/api/redrive", body);
  }

  @Command(
      description =
          "Says that a dead record, or all of a topic that pass the filter, need no redrive.")
  int dismiss(@Mixin Where where, @Mixin Dead dead) throws IOException, InterruptedException {
    if (dead.ids.isEmpty()) {
      return post(where, "/api/dismiss", dead.body());
    }
    if (dead.ids.size() > 1 || dead.hasFilter()) {
      return wrong("give one ID, or a filter");
    }
    if (dead.dryRun) {
      return wrong("--dry-run goes with a filter: 'record ID' tells of one record");
    }
    return actOnOne(where, "dismiss", dead, dead.bodyOfOne());
  }

  private int actOnOne(Where where, String act, Dead dead, Map<String, Object> body)
      throws IOException, InterruptedException {
    String id = AdminClient.encoded(dead.ids.getFirst());
    return post(where, "/api/records/" + id + "/" + act, body);
  }

  private static int wrong(String remedy) {
    System.err.println("firstclaim: " + remedy);
    return 2;
  }

  private static void put(Map<String, Object> body, String field, @Nullable Object value) {
    if (value != null) {
      body.put(field, value);
    }
  }

  @Command(
      description = {
        "Makes a token: prints it, and adds its hash to a token file.",
        "The token is kept nowhere else."
      })
  int token(
      @Parameters(paramLabel = "NAME", description = "Whose it is.") String name,
      @Option(names = "--role", required = true, description = "reader, operator or claimer.")
          Role role,
      @Option(
              names = "--add-to",
              required = true,
              description = "The file of firstclaim.admin.token-file; made if it is not there.")
          Path file)
      throws IOException {
    System.out.println(TokenFile.add(file, name, role));
    return 0;
  }

  @Command(description = "Dead records that were dismissed, by whom and why.")
  int dismissed(
      @Mixin Where where,
      @Option(names = "--limit", defaultValue = "100") int limit,
      @Option(names = "--after") @Nullable String after)
      throws IOException, InterruptedException {
    return list(where, "dismissed", limit, after);
  }

  @Command(description = "How far a redrive is.")
  int progress(@Mixin Where where, @Parameters(paramLabel = "REDRIVE") String id)
      throws IOException, InterruptedException {
    return get(where, "/api/redrives/" + AdminClient.encoded(id));
  }

  @Command(description = "Says that a violation was seen, and why it needs no alert any more.")
  int acknowledge(
      @Mixin Where where,
      @Parameters(paramLabel = "ID", description = "Of the record.") String id,
      @Option(names = "--reason", required = true) String reason)
      throws IOException, InterruptedException {
    return post(
        where,
        "/api/violations/" + AdminClient.encoded(id) + "/acknowledge",
        Map.of("reason", reason));
  }

  @Command(description = "Has the instance, its zone or the application take no more records.")
  int pause(
      @Mixin Where where,
      @Option(names = "--reason", required = true) String reason,
      @Option(names = "--scope", defaultValue = "instance", description = SCOPE) String scope)
      throws IOException, InterruptedException {
    return post(where, "/api/pause", Map.of("reason", reason, "scope", scope));
  }

  @Command(description = "Has the instance, its zone or the application take records again.")
  int resume(
      @Mixin Where where,
      @Option(names = "--reason", required = true) String reason,
      @Option(names = "--scope", defaultValue = "instance", description = SCOPE) String scope)
      throws IOException, InterruptedException {
    return post(where, "/api/resume", Map.of("reason", reason, "scope", scope));
  }
}
