package io.firstclaim.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventFileTest {
  @TempDir private Path directory;

  @Test
  void sample_has1707Events_withIds() {
    EventFile sample = EventFile.sample();

    assertThat(sample.events()).hasSize(1707);
    assertThat(sample.events().getFirst().id()).isEqualTo("ci37868143");
    assertThat(sample.digested()).isZero();
  }

  @Test
  void id_isTheDocumentsId_orTheHashOfTheLine() throws IOException {
    EventFile file = read("{\"id\":\"a\"}\n\n{\"id\":1}\r\n{\"x\":\"ü\"}");

    assertThat(file.events())
        .extracting(Event::id)
        .containsExactly(
            "a", "1", "c10735bdb5c23df70d83c5a8280cb4cd9f0b1a119f833d2bc0edf16249f46ea8");
    assertThat(file.digested()).isEqualTo(1);
  }

  @Test
  void wrongLine_isNamed() {
    assertThatThrownBy(() -> read("{}\n{\"id\":\n"))
        .isInstanceOf(JobFailure.class)
        .hasMessageContaining("events.jsonl:2: not a JSON document");
    assertThatThrownBy(() -> readBytes("{}\n\"\u00ff\"\n".getBytes(StandardCharsets.ISO_8859_1)))
        .hasMessageContaining("events.jsonl:2: not UTF-8");
  }

  @Test
  void repeatedLine_isOneEvent() throws IOException {
    EventFile file = read("{\"id\":\"a\"}\n{}\n{\"id\":\"a\"}\r\n{}\n {\"id\":\"a\"}\n");

    assertThat(file.events()).extracting(Event::lines).containsExactly(3, 2);
    assertThat(file.digested()).isEqualTo(1);
    assertThat(file.repeatedLines()).isEqualTo(3);
  }

  @Test
  void otherDocument_withTheSameId_isRefusedInOneLine() {
    assertThatThrownBy(() -> read("{\"id\":\"a\\nb\"}\n\n{\"id\":\"a\\nb\",\"x\":1}\n"))
        .isInstanceOf(JobFailure.class)
        .hasMessageEndingWith(
            "events.jsonl:3: another document has the ID \"a\\nb\" in line 1, and a zone would"
                + " dead-letter this one; give it an ID of its own, or leave it out");
  }

  @Test
  void missingOrEmptyFile_isNamed() {
    assertThatThrownBy(() -> EventFile.of(directory.resolve("none.jsonl")))
        .hasMessageContaining("none.jsonl: there is no such file");
    assertThatThrownBy(() -> read("\n")).hasMessageContaining("there is no document in it");
  }

  private EventFile read(String text) throws IOException {
    return readBytes(text.getBytes(StandardCharsets.UTF_8));
  }

  private EventFile readBytes(byte[] bytes) throws IOException {
    return EventFile.of(Files.write(directory.resolve("events.jsonl"), bytes));
  }
}
