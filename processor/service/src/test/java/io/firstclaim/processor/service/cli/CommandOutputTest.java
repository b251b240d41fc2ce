package io.firstclaim.processor.service.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import org.junit.jupiter.api.Test;

class CommandOutputTest {
  private final ByteArrayOutputStream passedOn = new ByteArrayOutputStream();

  private CommandOutput read(byte[] written) {
    CommandOutput output = CommandOutput.read(new ByteArrayInputStream(written), passedOn);
    assertThat(passedOn.toByteArray()).isEqualTo(written);
    return output;
  }

  @Test
  void text_isKeptAndPassedOn_howeverItsBytesArrive() {
    byte[] written = ("x" + "\u00fc".repeat(20_000)).getBytes(UTF_8);

    assertThat(read(written)).isEqualTo(new CommandOutput.Text(new String(written, UTF_8)));
  }

  @Test
  void textThatJustFits_isKept_andAByteMoreIsUnfit() {
    String fits = "x".repeat(CommandOutput.MAX_STORED);
    assertThat(read(fits.getBytes(UTF_8))).isEqualTo(new CommandOutput.Text(fits));
    passedOn.reset();

    assertThat(read((fits + "x").getBytes(UTF_8)))
        .isEqualTo(new CommandOutput.Unfit("it has more than 65536 bytes"));
  }

  @Test
  void bytesThatAreNoText_areUnfit() {
    assertThat(read(new byte[] {'x', (byte) 0xff}))
        .isEqualTo(new CommandOutput.Unfit("it is not UTF-8"));
  }

  @Test
  void outputThatBreaksOff_isUnread_andNotTakenForTooLong() {
    InputStream broken =
        new FilterInputStream(InputStream.nullInputStream()) {
          @Override
          public int read(byte[] into, int from, int length) throws IOException {
            throw new IOException("Stream closed");
          }
        };
    InputStream begun = new SequenceInputStream(new ByteArrayInputStream(new byte[] {'x'}), broken);

    assertThat(CommandOutput.read(begun, passedOn))
        .isEqualTo(new CommandOutput.Unread("java.io.IOException: Stream closed"));
    assertThat(passedOn.toString(UTF_8)).isEqualTo("x");
  }
}
