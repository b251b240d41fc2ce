package example.tables;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.DynamoDbServer;
import io.micronaut.context.ApplicationContext;
import io.micronaut.core.type.Argument;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.client.BlockingHttpClient;
import io.micronaut.http.client.DefaultHttpClientConfiguration;
import io.micronaut.http.client.HttpClient;
import io.micronaut.http.client.exceptions.HttpClientResponseException;
import io.micronaut.runtime.server.EmbeddedServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.StreamSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TablesTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** Two servers over one board, asked in turns. */
  private static final List<EmbeddedServer> servers = new ArrayList<>();

  private static final List<HttpClient> clients = new ArrayList<>();
  private static final AtomicInteger requests = new AtomicInteger();
  private static DynamoDbServer dynamoDb;

  @BeforeAll
  static void start() {
    var patient = new DefaultHttpClientConfiguration();
    patient.setReadTimeout(Duration.ofMinutes(5));
    dynamoDb = DynamoDbServer.start(JvmTuning.SHORT_RUN);
    System.setProperty("aws.endpointUrlDynamoDb", dynamoDb.endpoint().toString());
    System.setProperty("aws.region", "eu-central-1");
    System.setProperty("aws.accessKeyId", "test");
    System.setProperty("aws.secretAccessKey", "test");
    for (int i = 0; i < 2; i++) {
      servers.add(
          ApplicationContext.run(EmbeddedServer.class, Map.of("micronaut.server.port", -1)));
      clients.add(HttpClient.create(servers.getLast().getURL(), patient));
    }
  }

  @AfterAll
  static void stop() {
    clients.forEach(HttpClient::close);
    servers.forEach(EmbeddedServer::close);
    dynamoDb.close();
  }

  @AfterEach
  void freeAll() throws Exception {
    for (JsonNode row : get("/tables")) {
      if (row.get("status").asText().equals("EDITING")) {
        Answer freed = free(row.get("table").asText(), "test", row.get("change").asText());
        assertThat(freed.code()).isEqualTo(200);
      }
    }
    assertThat(statuses()).isEmpty();
  }

  @Test
  void tableThatNobodyEdits_isNormal() throws Exception {
    JsonNode rows = get("/tables");
    assertThat(rows.findValuesAsText("table")).containsExactly("A", "B", "C", "D", "E", "F", "S");
    assertThat(rows.findValuesAsText("status")).containsOnly("NORMAL");
    assertThat(rows.get(0).get("parents")).map(JsonNode::asText).containsExactly("B", "C");
  }

  @Test
  void editing_locksTheParentsOnBehalfOfTheChild() throws Exception {
    assertThat(post("A", "edit", "anna").code()).isEqualTo(200);
    assertThat(statuses()).containsExactly("A EDITING", "B LOCKED", "C LOCKED");
    for (String parent : List.of("B", "C")) {
      assertThat(row(parent).get("lockedBy").asText()).isEqualTo("A");
      assertThat(row(parent).get("editor").asText()).isEqualTo("anna");
      assertThat(row(parent).get("since").asText()).isEqualTo(row("A").get("since").asText());
    }
  }

  @Test
  void editorOfAnotherChild_getsNothing_andIsToldWhoHasTheParent() throws Exception {
    post("A", "edit", "anna");
    Answer refused = post("D", "edit", "bert");
    assertThat(refused.code()).isEqualTo(409);
    assertThat(refused.body().get("message").asText())
        .isEqualTo(
            "C is locked on behalf of A, which anna edits since " + row("C").get("since").asText());
    assertThat(refused.body().get("inTheWay")).hasSize(1);
    assertThat(refused.body().get("inTheWay").get(0)).isEqualTo(row("C"));
    assertThat(statuses()).containsExactly("A EDITING", "B LOCKED", "C LOCKED");
  }

  @Test
  void lockedParent_isNotEdited() throws Exception {
    post("A", "edit", "anna");
    assertThat(post("C", "edit", "anna").code()).isEqualTo(409);
    assertThat(statuses()).containsExactly("A EDITING", "B LOCKED", "C LOCKED");
  }

  @Test
  void tablesThatAreEachOthersParents_areEditedOneAtATime() throws Exception {
    assertThat(post("F", "edit", "anna").code()).isEqualTo(200);
    assertThat(statuses()).containsExactly("E LOCKED", "F EDITING");
    Answer refused = post("E", "edit", "bert");
    assertThat(refused.code()).isEqualTo(409);
    assertThat(refused.body().get("inTheWay").findValuesAsText("table")).containsExactly("E", "F");
    assertThat(post("F", "finish", "anna").code()).isEqualTo(200);
    assertThat(post("E", "edit", "bert").code()).isEqualTo(200);
  }

  @Test
  void tableThatIsItsOwnParent_isEdited() throws Exception {
    assertThat(post("S", "edit", "anna").code()).isEqualTo(200);
    assertThat(statuses()).containsExactly("S EDITING");
    assertThat(post("S", "finish", "anna").code()).isEqualTo(200);
    assertThat(statuses()).isEmpty();
  }

  @Test
  void finishing_freesTheParents_andIsUpToTheEditor() throws Exception {
    post("A", "edit", "anna");
    Answer refused = post("A", "finish", "bert");
    assertThat(refused.code()).isEqualTo(409);
    assertThat(refused.body().get("message").asText()).startsWith("A is edited by anna since ");
    assertThat(statuses()).hasSize(3);
    assertThat(post("A", "finish", "anna").code()).isEqualTo(200);
    assertThat(statuses()).isEmpty();
    assertThat(post("D", "edit", "bert").code()).isEqualTo(200);
  }

  @Test
  void editorWhoVanished_isFreedByAnOperator() throws Exception {
    post("A", "edit", "anna");
    assertThat(free("A", "olga", row("A").get("change").asText()).code()).isEqualTo(200);
    assertThat(statuses()).isEmpty();
    assertThat(row("C").get("editor").asText()).isEqualTo("olga");

    Answer late = post("A", "finish", "anna");
    assertThat(late.code()).isEqualTo(409);
    assertThat(late.body().get("inTheWay").findValuesAsText("table"))
        .containsExactly("A", "B", "C");
  }

  @Test
  void editor_savesAgainAndAgain() throws Exception {
    post("A", "edit", "anna");
    for (String text : List.of("first", "second")) {
      Answer saved = save("A", "anna", row("A").get("change").asText(), text);
      assertThat(saved.code()).isEqualTo(200);
      assertThat(text("A")).isEqualTo(text);
    }
    assertThat(statuses()).containsExactly("A EDITING", "B LOCKED", "C LOCKED");
    assertThat(post("A", "finish", "anna").code()).isEqualTo(200);
    assertThat(text("A")).isEqualTo("second");
  }

  @Test
  void editorWhoWasFreed_savesNothing_whoeverEditsItNow() throws Exception {
    post("D", "edit", "anna");
    String annas = row("D").get("change").asText();
    assertThat(save("D", "anna", annas, "anna's").code()).isEqualTo(200);
    String shown = row("D").get("change").asText();
    assertThat(free("D", "olga", shown).code()).isEqualTo(200);

    assertThat(save("D", "anna", shown, "late").code()).isEqualTo(409);
    for (String next : List.of("bert", "anna")) {
      assertThat(post("D", "edit", next).code()).isEqualTo(200);
      Answer late = save("D", "anna", shown, "late");
      assertThat(late.code()).isEqualTo(409);
      assertThat(late.body().get("message").asText()).startsWith("D is edited by " + next);
      assertThat(post("D", "finish", next).code()).isEqualTo(200);
    }
    assertThat(text("D")).isEqualTo("anna's");
  }

  @Test
  void whatTheOperatorHasNotSeen_isNotFreed() throws Exception {
    post("A", "edit", "anna");
    String seen = row("A").get("change").asText();
    post("A", "finish", "anna");
    assertThat(free("A", "olga", seen).code()).isEqualTo(409);
    post("A", "edit", "bert");
    assertThat(free("A", "olga", seen).code()).isEqualTo(409);
    assertThat(free("C", "olga", row("C").get("change").asText()).code()).isEqualTo(409);
    assertThat(statuses()).hasSize(3);
  }

  @Test
  void editorsAtOnce_onTwoServers_getOneTableWithAllItsParents() throws Exception {
    Map<String, Future<Answer>> answers = new HashMap<>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 20; i++) {
        String table = i % 2 == 0 ? "A" : "D";
        String editor = "editor-" + i;
        answers.put(editor, threads.submit(() -> post(table, "edit", editor)));
      }
    }
    Set<String> told = new HashSet<>();
    Set<String> untold = new HashSet<>();
    for (String editor : answers.keySet()) {
      Answer answer = answers.get(editor).get();
      if (answer.isUnknown()) {
        untold.add(editor); // a busy machine was too slow
      } else if (answer.code() == 200) {
        told.add(editor);
      } else {
        assertThat(answer.code()).as("%s", answer.body()).isEqualTo(409);
      }
    }
    String editor = row("C").get("editor").asText();
    assertThat(told).isSubsetOf(editor);
    assertThat(told.isEmpty() ? untold : told).contains(editor);
    assertThat(statuses())
        .isIn(List.of("A EDITING", "B LOCKED", "C LOCKED"), List.of("C LOCKED", "D EDITING"));
  }

  @Test
  void hostileName_isGivenBackInOneVisibleLine() throws Exception {
    post("S", "edit", "<script>\r\n\u202e</script>");
    assertThat(row("S").get("editor").asText()).isEqualTo("<script> \\u{202e}</script>");
    assertThat(post("S", "finish", "<script>\r\n\u202e</script>").code()).isEqualTo(200);
  }

  @Test
  void page_isServed_andPutsNothingInAsHtml() {
    HttpResponse<String> page =
        client().exchange(HttpRequest.GET("/").accept(MediaType.TEXT_HTML), String.class);
    assertThat(page.getContentType()).contains(MediaType.TEXT_HTML_TYPE);
    assertThat(page.body())
        .contains("textContent")
        .doesNotContainIgnoringCase(
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write");
  }

  @Test
  void requestThatMakesNoSense_isRefused() throws Exception {
    assertThat(post("Z", "edit", "anna").code()).isEqualTo(404);
    assertThat(post("A", "edit", "").code()).isEqualTo(400);
    Answer tooLong = post("A", "edit", "x".repeat(257));
    assertThat(tooLong.code()).isEqualTo(400);
    assertThat(tooLong.body().get("message").asText()).contains("256 bytes");
    assertThat(statuses()).isEmpty();
  }

  private record Answer(int code, JsonNode body) {
    boolean isNothingDone() {
      return code == 503 && message().startsWith("Nothing is done: ");
    }

    boolean isUnknown() {
      return code == 503 && message().startsWith("It may be done, ");
    }

    private String message() {
      return body.get("message").asText();
    }
  }

  private Answer post(String table, String action, String editor) {
    return known(() -> send("/tables/" + table + "/" + action, Map.of("editor", editor)));
  }

  private Answer free(String table, String editor, String change) {
    return known(
        () -> send("/tables/" + table + "/free", Map.of("editor", editor, "change", change)));
  }

  private Answer save(String table, String editor, String change, String text) {
    Map<String, String> form = Map.of("editor", editor, "change", change, "text", text);
    return known(() -> send("/tables/" + table + "/save", form));
  }

  private String text(String table) throws Exception {
    return get("/tables/" + table + "/text").get("text").asText();
  }

  private Answer send(String path, Map<String, String> form) throws Exception {
    return exchange(
        HttpRequest.POST(path, form).contentType(MediaType.APPLICATION_FORM_URLENCODED_TYPE));
  }

  private Answer exchange(HttpRequest<?> request) throws Exception {
    HttpResponse<?> answer;
    try {
      answer = client().exchange(request, Argument.STRING, Argument.STRING);
    } catch (HttpClientResponseException e) {
      answer = e.getResponse();
    }
    return new Answer(answer.code(), JSON.readTree(answer.getBody(String.class).orElseThrow()));
  }

  private BlockingHttpClient client() {
    return clients.get(requests.getAndIncrement() % clients.size()).toBlocking();
  }

  /** The answer, asked for again as long as a busy machine was too slow to do anything. */
  private static Answer known(Callable<Answer> asked) {
    return Awaitility.await().atMost(PATIENCE).until(asked, answer -> !answer.isNothingDone());
  }

  private JsonNode get(String path) {
    Answer answer = known(() -> exchange(HttpRequest.GET(path)));
    assertThat(answer.code()).as("%s", answer.body()).isEqualTo(200);
    return answer.body();
  }

  private JsonNode row(String table) throws Exception {
    for (JsonNode row : get("/tables")) {
      if (row.get("table").asText().equals(table)) {
        return row;
      }
    }
    throw new AssertionError("no table " + table);
  }

  /** The statuses of the tables that are not normal. */
  private List<String> statuses() throws Exception {
    return StreamSupport.stream(get("/tables").spliterator(), false)
        .map(row -> row.get("table").asText() + " " + row.get("status").asText())
        .filter(row -> !row.endsWith("NORMAL"))
        .toList();
  }
}
