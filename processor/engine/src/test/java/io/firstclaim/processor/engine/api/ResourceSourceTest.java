package io.firstclaim.processor.engine.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonPointer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ResourceSourceTest {
  @Test
  void list_isReadInItsOrder() {
    assertThat(ResourceSource.parseList(" json:/from , json:/items/*/sku,header:tenant, key "))
        .containsExactly(
            new ResourceSource.JsonFields(JsonPointer.compile("/from")),
            new ResourceSource.JsonFields(JsonPointer.compile("/items/*/sku")),
            new ResourceSource.Header("tenant"),
            new ResourceSource.Key());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "header:", "keys", "json:", "json:id", "sha256:value", "offset"})
  void wrongEntry_isNamed_withWhatIsRight(String entry) {
    assertThatThrownBy(() -> ResourceSource.parseList("key, " + entry))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'%s' is none of json:/pointer, header:NAME, key".formatted(entry));
  }
}
