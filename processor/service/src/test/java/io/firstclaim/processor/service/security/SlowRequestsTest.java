package io.firstclaim.processor.service.security;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SlowRequestsTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String GET = "GET / HTTP/1.1\r\n\r\n";
  private static final String POST = "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n";

  private final EmbeddedChannel connection = new EmbeddedChannel();

  @BeforeEach
  void connect() {
    connection.freezeTime();
    connection.pipeline().addLast(new HttpServerCodec(), new SlowRequests.Deadline(LIMIT));
  }

  private void bring(String bytes) {
    connection.writeInbound(Unpooled.copiedBuffer(bytes, ISO_8859_1));
  }

  private void answer(HttpResponseStatus status) {
    connection.writeOutbound(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status));
  }

  private boolean isOpenAfter(Duration time) {
    connection.advanceTimeBy(time.toMillis(), TimeUnit.MILLISECONDS);
    connection.runScheduledPendingTasks();
    return connection.isOpen();
  }

  @Test
  void requestThatIsWorkedOn_hasTime() {
    bring(GET);
    assertThat(isOpenAfter(LIMIT)).isTrue();
    answer(HttpResponseStatus.OK);
    assertThat(isOpenAfter(LIMIT)).isFalse();
  }

  @Test
  void requestThatIsWorkedOn_hasTime_thoughTheOneBeforeItIsAnswered() {
    bring(GET + GET);
    answer(HttpResponseStatus.OK);
    assertThat(isOpenAfter(LIMIT)).isTrue();
    answer(HttpResponseStatus.OK);
    assertThat(isOpenAfter(LIMIT)).isFalse();
  }

  @Test
  void requestThatIsAnsweredBeforeItsEnd_isNotWorkedOnWhenThatComes() {
    bring(POST);
    answer(HttpResponseStatus.FORBIDDEN);
    bring("x");
    assertThat(isOpenAfter(LIMIT)).isFalse();
  }

  @Test
  void requestThatIsToldToContinue_hasNoMoreTimeForThat() {
    bring(POST);
    assertThat(isOpenAfter(LIMIT.minusSeconds(1))).isTrue();
    answer(HttpResponseStatus.CONTINUE);
    assertThat(isOpenAfter(Duration.ofSeconds(1))).isFalse();
  }

  @Test
  void requestThatWasToldToContinue_isWorkedOnOnceItIsThere() {
    bring(POST);
    answer(HttpResponseStatus.CONTINUE);
    bring("x");
    assertThat(isOpenAfter(LIMIT)).isTrue();
  }
}
