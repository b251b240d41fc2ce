package io.firstclaim.processor.engine.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonPointer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RecordIdSourceTest {
  @Test
  void list_isReadInItsOrder() {
    assertThat(
            RecordIdSource.parseList(" header:ce_id , key,json:/order/0/id,sha256:value,  offset "))
        .containsExactly(
            new RecordIdSource.Header("ce_id"),
            new RecordIdSource.Key(),
            new RecordIdSource.JsonField(JsonPointer.compile("/order/0/id")),
            new RecordIdSource.ValueHash(),
            new RecordIdSource.Offset());
  }

  @Test
  void text_isWhatWasRead() {
    assertThat(RecordIdSource.parseList("header:ce_id,key,json:/a~1b,sha256:value,offset"))
        .extracting(RecordIdSource::text)
        .containsExactly("header:ce_id", "key", "json:/a~1b", "sha256:value", "offset");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "header:",
        "header",
        "keys",
        "Key",
        "json:",
        "json:id",
        "sha256:",
        "sha256:key",
        "sha256",
        "offset:",
        "value"
      })
  void wrongEntry_isNamed_withWhatIsRight(String entry) {
    assertThatThrownBy(() -> RecordIdSource.parseList("header:x, " + entry))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "'%s' is none of header:NAME, key, json:/pointer, sha256:value, offset"
                .formatted(entry));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",", "key,", ",key", "key,,offset"})
  void emptyEntry_isRefused(String list) {
    assertThatThrownBy(() -> RecordIdSource.parseList(list))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("'' is none of ");
  }

  @Test
  void entryAfterOffset_isRefused() {
    assertThatThrownBy(() -> RecordIdSource.parseList("offset, key"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "'key' is never reached after 'offset', which every record has: put offset last");
  }
}
