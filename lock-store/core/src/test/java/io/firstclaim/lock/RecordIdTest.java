package io.firstclaim.lock;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.RecordId.Space;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecordIdTest {
  private static final List<String> TRICKY =
      List.of(
          "%",
          "%%",
          "%z",
          "%zz",
          "%0",
          "%0A",
          "%0a",
          "\n",
          "%250A",
          "%250a",
          "%25250A",
          "a%250Ab",
          "a%0Ab",
          "a\nb",
          "%25",
          "%2525",
          "%C3%A9",
          "%c3%a9",
          "\u00e9",
          "%E9",
          " ",
          "%20",
          "  ",
          "%20%20",
          " a",
          "%20a",
          "a ",
          "a%20",
          "a b",
          "a%20b",
          "%00",
          "\u0000",
          "\u007f",
          "%7F",
          "\t",
          "%09",
          "%0D%0A",
          "\r\n",
          "%\n",
          "%25%0A",
          "%250A\n",
          "%25250A%0A",
          "\u202e",
          "%E2%80%AE",
          "\u2028",
          "%E2%80%A8",
          "\ud83d\udca3",
          "%F0%9F%92%A3",
          "\ufffd",
          "%EF%BF%BD",
          "a%",
          "%a",
          "100%",
          "%41",
          "A",
          "%4a",
          "%4A",
          "J",
          "\u00a0",
          "%C2%A0");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "order-4711",
        "a b",
        "%",
        "%zz",
        "100%",
        "%41",
        "%0a",
        "{\"a\":1}",
        "https://x/?q=1%202",
        "a/../b",
        "%250a",
        "a%250ab"
      })
  void legalValues_areUnchanged(String legal) {
    assertThat(RecordId.of(legal).text()).isEqualTo(legal);
    assertThat(RecordId.of(legal).headerText()).isEqualTo(legal);
    assertThat(RecordId.of(legal)).hasToString(legal);
  }

  @Test
  void utf8_isPlainText_andIsEscapedInAHeader() {
    RecordId id = RecordId.of("bestellung-\u00e9-\ud83d\udca3");

    assertThat(id.text()).isEqualTo("bestellung-\u00e9-\ud83d\udca3");
    assertThat(id.headerText()).isEqualTo("bestellung-%C3%A9-%F0%9F%92%A3");
  }

  @ParameterizedTest
  @CsvSource(
      ignoreLeadingAndTrailingWhitespace = false,
      value = {" a,%20a", "a ,a%20", " ,%20"})
  void blanksAtTheEnds_areEscapedInAHeader(String text, String header) {
    assertThat(RecordId.of(text).text()).isEqualTo(text);
    assertThat(RecordId.of(text).headerText()).isEqualTo(header);
  }

  @Test
  void controlsAndWhatHidesOrReordersText_areEscaped() {
    assertThat(RecordId.of("a\r\nb").text()).isEqualTo("a%0D%0Ab");
    assertThat(RecordId.of("\u0000").text()).isEqualTo("%00");
    assertThat(RecordId.of("\u007f").text()).isEqualTo("%7F");
    assertThat(RecordId.of("\u0085").text()).isEqualTo("%C2%85");
    assertThat(RecordId.of("\u202egpj.exe").text()).isEqualTo("%E2%80%AEgpj.exe");
    assertThat(RecordId.of("\u200b").text()).isEqualTo("%E2%80%8B");
    assertThat(RecordId.of("\u2028").text()).isEqualTo("%E2%80%A8");
    assertThat(RecordId.of("\ue000").text()).isEqualTo("%EE%80%80");
  }

  @Test
  void invalidUtf8_isEscapedByteForByte() {
    assertThat(RecordId.of(new byte[] {(byte) 0xc3}).text()).isEqualTo("%C3");
    assertThat(RecordId.of(new byte[] {(byte) 0xc0, (byte) 0xaf}).text())
        .as("overlong")
        .isEqualTo("%C0%AF");
    assertThat(RecordId.of(new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80}).text())
        .as("a surrogate")
        .isEqualTo("%ED%A0%80");
  }

  @Test
  void whatLooksLikeAnEscape_isEscapedOnlyWhereItCouldBeMistaken() {
    assertThat(RecordId.of("%0A").text()).as("like a line feed").isEqualTo("%250A");
    assertThat(RecordId.of("%250A").text()).as("like the one above").isEqualTo("%25250A");
    assertThat(RecordId.of("%0a").text()).as("escapes are in capitals").isEqualTo("%0a");
    assertThat(RecordId.of("%41").text()).as("an A needs no escape").isEqualTo("%41");
    assertThat(RecordId.of("%C3%A9").text()).as("text keeps its accents").isEqualTo("%C3%A9");
    assertThat(RecordId.of("%C3%A9").headerText()).as("a header does not").isEqualTo("%25C3%25A9");
  }

  /** Else an ID of a kilobyte would be decoded 500 times. */
  @Test
  void whatWasEscapedManyTimes_isEscapedOnceMore_andFoundAgain() {
    assertThat(RecordId.of("%" + "25".repeat(7)).text()).isEqualTo("%" + "25".repeat(7));
    assertThat(RecordId.of("%" + "25".repeat(8)).text()).isEqualTo("%" + "25".repeat(9));
    for (String base : List.of("", "0A", "0a", "41", "E9")) {
      for (int depth = 0; depth < 20; depth++) {
        RecordId id = RecordId.of("%" + "25".repeat(depth) + base);
        assertThat(RecordId.parse(id.text())).isEqualTo(id);
      }
    }
  }

  @Test
  void texts_areDistinct_andHoldNothingHostile() {
    assertInjective(RecordId::text);
    for (RecordId id : trickyIds()) {
      assertThat(id.text().codePoints())
          .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT);
    }
  }

  @Test
  void headerTexts_areDistinct_andLegalHeaderValues() {
    assertInjective(RecordId::headerText);
    for (RecordId id : trickyIds()) {
      assertThat(id.headerText()).matches("[!-~]([ -~]*[!-~])?");
    }
  }

  private static void assertInjective(Function<RecordId, String> print) {
    Map<String, RecordId> printed = new HashMap<>();
    for (RecordId id : trickyIds()) {
      RecordId other = printed.putIfAbsent(print.apply(id), id);
      assertThat(other == null || other.equals(id))
          .as("%s and %s print alike: %s", Arrays.toString(id.bytes()), other, print.apply(id))
          .isTrue();
    }
    assertThat(printed).hasSizeGreaterThan(20_000);
  }

  /** The tricky ones, all they print as, and many made of their parts; the same ones each time. */
  private static Set<RecordId> trickyIds() {
    Set<RecordId> ids = new HashSet<>();
    List<String> parts = new ArrayList<>(TRICKY);
    for (String text : TRICKY) {
      ids.add(RecordId.of(text));
      ids.add(RecordId.of(text.getBytes(ISO_8859_1)));
    }
    for (int round = 0; round < 3; round++) {
      for (RecordId id : List.copyOf(ids)) {
        ids.add(RecordId.of(id.text()));
        ids.add(RecordId.of(id.headerText()));
      }
    }
    parts.addAll(List.of("25", "0A", "0a", "C", "3", "a"));
    var random = new Random(4711);
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int part = 0; part <= random.nextInt(4); part++) {
        text.append(parts.get(random.nextInt(parts.size())));
      }
      RecordId id = RecordId.of(text.toString());
      ids.add(id);
      ids.add(RecordId.of(id.text()));
      ids.add(RecordId.of(id.headerText()));
      byte[] bytes = new byte[1 + random.nextInt(4)];
      random.nextBytes(bytes);
      ids.add(RecordId.of(bytes));
      ids.add(RecordId.of(RecordId.of(bytes).text()));
    }
    return ids;
  }

  // Keys

  @Test
  void key_isSha256InHex_ofNamespaceAndIdWithTheirLengths() {
    // printf '\0\0\0\5space\0\0\0\2id' | sha256sum
    assertThat(RecordId.of("id").key("space"))
        .isEqualTo("8d9bb5b63ad0cf3d735eb746a3b212f74be197c28527c0fd712912e46dbef35a");
  }

  @Test
  void eachSpace_hasKeysOfItsOwn_andIdsOfItsOwn() {
    RecordId id = RecordId.of("id");
    Set<String> keys = new HashSet<>();
    for (Space space : Space.values()) {
      keys.add(id.in(space).key("space"));
      assertThat(Space.values()).filteredOn(other -> id.in(space).equals(id.in(other))).hasSize(1);
    }

    assertThat(keys).hasSameSizeAs(Space.values());
    assertThat(id.in(Space.RECORD)).isEqualTo(id);
    // printf '\0\0\0\5space\377\377\377\376id' | sha256sum
    assertThat(id.asResource().key("space"))
        .isEqualTo("2e4a642c2bba5173b9fd81df4b8fd315838646fe93ed148d55f0edec24709ff0");
    // printf '\0\0\0\5space\377\376\377\376id' | sha256sum
    assertThat(id.asMutex().key("space"))
        .isEqualTo("0be60cb4a394fb43eb83f4ddce589e56b9f62ef5367adcc1ea5bcecba8ec41b8");
    // printf '\0\0\0\5space\377\375\377\376id' | sha256sum
    assertThat(new RedriveId("id").mutexId().key("space"))
        .isEqualTo("818779dff7a1f2a553418835be67b8c8601cf2fb8e6372c40a21ee5c32aa8251");
  }

  @Test
  void resourceMutexOrRedrive_staysWhatItIs_takenForAResourceOrAMutex() {
    RecordId redrive = new RedriveId("id").mutexId();
    RecordId resource = RecordId.of("id").asResource();
    RecordId mutex = RecordId.of("id").asMutex();

    assertThat(redrive.asMutex()).isEqualTo(redrive);
    assertThat(resource.asMutex()).isEqualTo(resource);
    assertThat(mutex.asResource()).isEqualTo(mutex);
  }

  @Test
  void key_differsForEverySplitOfNamespaceAndId() {
    Set<String> keys = new HashSet<>();
    String text = "abcdef";
    for (int split = 1; split < text.length(); split++) {
      keys.add(RecordId.of(text.substring(split)).key(text.substring(0, split)));
    }
    assertThat(keys).hasSize(text.length() - 1);
  }

  @Test
  void key_differsForIdsThatPrintAlikeAsReplacedText() {
    assertThat(RecordId.of(new byte[] {(byte) 0xc3}).key("n"))
        .isNotEqualTo(RecordId.of(new byte[] {(byte) 0xc4}).key("n"))
        .isNotEqualTo(RecordId.of("\ufffd").key("n"));
  }

  // Bounds

  @Test
  void noBytesOrTooMany_areRefused() {
    assertThatThrownBy(() -> RecordId.of(""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a record ID has 1 to 1024 bytes, this one has 0");
    assertThatThrownBy(() -> RecordId.of(new byte[1025]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a record ID has 1 to 1024 bytes, this one has 1025");
    assertThatThrownBy(() -> RecordId.of("\u00e9".repeat(513)))
        .as("bytes are counted, not characters")
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(RecordId.of(new byte[1024]).length()).isEqualTo(1024);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\ud83d", "a\udca3", "\udca3\ud83d"})
  void halfASurrogatePair_isRefused_forItWouldBecomeAQuestionMark(String half) {
    assertThatThrownBy(() -> RecordId.of(half))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a record ID is text that UTF-8 can write, this one has half a surrogate pair");
  }

  // Value

  @Test
  void bytes_areCopiedInAndOut() {
    byte[] bytes = "id".getBytes(UTF_8);
    RecordId id = RecordId.of(bytes);
    bytes[0] = 'x';
    id.bytes()[0] = 'x';

    assertThat(id).isEqualTo(RecordId.of("id")).hasSameHashCodeAs(RecordId.of("id"));
  }

  @Test
  void order_isThatOfUnsignedBytes() {
    RecordId high = RecordId.of(new byte[] {(byte) 0xff});
    RecordId low = RecordId.of("a");
    RecordId longer = RecordId.of("ab");

    assertThat(new TreeSet<>(List.of(high, longer, low))).containsExactly(low, longer, high);
  }

  @Test
  void everyId_isFoundAgainByItsText() {
    for (String text : TRICKY) {
      assertThat(RecordId.parse(RecordId.of(text).text())).isEqualTo(RecordId.of(text));
    }
    Random random = new Random(7);
    for (int i = 0; i < 10_000; i++) {
      byte[] bytes = new byte[1 + random.nextInt(8)];
      random.nextBytes(bytes);
      RecordId id = RecordId.of(bytes);
      assertThat(RecordId.parse(id.text())).isEqualTo(id);
    }
    byte[] longest = new byte[RecordId.MAX_BYTES];
    assertThat(RecordId.parse(RecordId.of(longest).text())).isEqualTo(RecordId.of(longest));
  }

  @Test
  void textOfNoId_isRefused() {
    for (String text : List.of("", "\n", "a\u0000", "\ud83d", "x".repeat(1025), "%".repeat(9999))) {
      assertThatThrownBy(() -> RecordId.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
