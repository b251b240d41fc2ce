package io.firstclaim.processor.service.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.junit.jupiter.api.Test;

class PrintedTest {
  @Test
  void lines_areWhole() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    try (Printed printed = new Printed(out)) {
      printed.line("a");
      printed.line("é");
    }

    assertThat(out.toString(UTF_8)).isEqualTo("a\né\n");
  }

  @Test
  void outputThatCannotBeWritten_isTold_whetherThereIsMuchOrLittle() {
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int one) throws IOException {
            throw new IOException("No space left on device");
          }
        };

    for (int lines : new int[] {1, 10_000}) {
      assertThatThrownBy(() -> print(full, lines))
          .hasMessage("the output is not whole, as it cannot be written: No space left on device");
    }
  }

  private static void print(OutputStream to, int lines) {
    try (Printed printed = new Printed(to)) {
      for (int i = 0; i < lines; i++) {
        printed.line("line");
      }
    }
  }
}
