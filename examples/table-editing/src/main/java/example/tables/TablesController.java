package example.tables;

import static io.micronaut.http.MediaType.APPLICATION_FORM_URLENCODED;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.board.TransitionResult;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Error;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The tables over HTTP. An editor is who says so: put this behind your sign-in, and take the name
 * from there.
 */
@Controller("/tables")
@ExecuteOn(TaskExecutors.BLOCKING)
final class TablesController {
  private final Tables tables;
  private final Texts texts;

  TablesController(Tables tables, Texts texts) {
    this.tables = tables;
    this.texts = texts;
  }

  /**
   * Why nothing was done.
   *
   * @param message for people
   * @param inTheWay the tables that are not as they would have to be
   */
  record Problem(String message, List<Row> inTheWay) {}

  @Get
  List<Row> list() {
    Map<String, Row> rows = new TreeMap<>();
    Tables.PARENTS.keySet().forEach(table -> rows.put(table, Row.untouched(table)));
    tables.touched().forEach(item -> rows.put(item.key().value(), Row.of(item)));
    return List.copyOf(rows.values());
  }

  /** What is in a table, as it was saved last. */
  record TableText(String text) {}

  @Get("/{table}/text")
  HttpResponse<?> text(String table) {
    return isUnknown(table) ? noSuchTable() : HttpResponse.ok(new TableText(texts.of(table)));
  }

  @Post("/{table}/edit")
  @Consumes(APPLICATION_FORM_URLENCODED)
  HttpResponse<?> edit(String table, String editor) throws InterruptedException {
    return isUnknown(table) ? noSuchTable() : answer(tables.edit(table, editor));
  }

  /** Done by the editor, to whom this change of the table was shown. */
  @Post("/{table}/save")
  @Consumes(APPLICATION_FORM_URLENCODED)
  HttpResponse<?> save(String table, String editor, String change, String text)
      throws InterruptedException {
    return isUnknown(table) ? noSuchTable() : answer(tables.save(table, editor, change, text));
  }

  @Post("/{table}/finish")
  @Consumes(APPLICATION_FORM_URLENCODED)
  HttpResponse<?> finish(String table, String editor) throws InterruptedException {
    return isUnknown(table) ? noSuchTable() : answer(tables.finish(table, editor));
  }

  /** Done by operators, who have seen this change of the table. */
  @Post("/{table}/free")
  @Consumes(APPLICATION_FORM_URLENCODED)
  HttpResponse<?> free(String table, String editor, String change) throws InterruptedException {
    return isUnknown(table) ? noSuchTable() : answer(tables.free(table, editor, change));
  }

  private static boolean isUnknown(String table) {
    return !Tables.PARENTS.containsKey(table);
  }

  private static HttpResponse<?> noSuchTable() {
    return problem(HttpStatus.NOT_FOUND, "There is no such table", List.of());
  }

  private static HttpResponse<?> answer(TransitionResult<TableStatus> result) {
    return switch (result) {
      case TransitionResult.Moved(var items) ->
          HttpResponse.ok(items.stream().map(Row::of).toList());
      case TransitionResult.Refused(var items) -> {
        List<Row> inTheWay = items.stream().map(Row::of).toList();
        String message = inTheWay.stream().map(Row::inWords).collect(Collectors.joining("; "));
        yield problem(HttpStatus.CONFLICT, message, inTheWay);
      }
      case TransitionResult.Unknown(String why) ->
          problem(HttpStatus.SERVICE_UNAVAILABLE, "It may be done, look again: " + why, List.of());
    };
  }

  /** An editor's name that is empty or too long. */
  @Error(IllegalArgumentException.class)
  HttpResponse<?> malformed(IllegalArgumentException e) {
    return problem(HttpStatus.BAD_REQUEST, OneLine.of(e), List.of());
  }

  @Error(StoreUnavailableException.class)
  HttpResponse<?> unavailable(StoreUnavailableException e) {
    return problem(HttpStatus.SERVICE_UNAVAILABLE, "Nothing is done: " + OneLine.of(e), List.of());
  }

  @Error(ContendedException.class)
  HttpResponse<?> contended(ContendedException e) {
    return problem(HttpStatus.SERVICE_UNAVAILABLE, "Nothing is done: " + OneLine.of(e), List.of());
  }

  private static HttpResponse<?> problem(HttpStatus status, String message, List<Row> inTheWay) {
    return HttpResponse.status(status).body(new Problem(message, inTheWay));
  }
}
