package io.firstclaim.bench.standin;

import io.firstclaim.stack.standin.DynamoDbInMemory;
import io.firstclaim.stack.standin.DynamoDbInMemory.Answer;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** One connection's requests, one after the other: DynamoDB's JSON 1.0 over HTTP. */
final class Answers extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final AtomicLong REQUESTS = new AtomicLong();

  private final DynamoDbInMemory dynamoDb;
  private final Duration latency;

  Answers(DynamoDbInMemory dynamoDb, Duration latency) {
    this.dynamoDb = dynamoDb;
    this.latency = latency;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    Answer answer =
        dynamoDb.answer(
            request.headers().get("x-amz-target", ""), ByteBufUtil.getBytes(request.content()));
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(answer.status()),
            Unpooled.wrappedBuffer(answer.body()));
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, DynamoDbInMemory.JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, answer.body().length)
        .set(HttpHeaderNames.DATE, now())
        .set("x-amz-crc32", answer.checksum())
        .set("x-amzn-RequestId", REQUESTS.incrementAndGet());
    boolean stays = HttpUtil.isKeepAlive(request);
    Runnable send =
        () -> {
          var sent = context.writeAndFlush(response);
          if (!stays) {
            var _ = sent.addListener(ChannelFutureListener.CLOSE);
          }
        };
    if (latency.isZero()) {
      send.run();
    } else {
      var _ = context.executor().schedule(send, latency.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  /** Clients go by it: leases are judged by the dates of the answers. */
  private static String now() {
    return DateTimeFormatter.RFC_1123_DATE_TIME.format(Instant.now().atOffset(ZoneOffset.UTC));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable fault) {
    boolean hasGone =
        fault instanceof IOException || fault instanceof PrematureChannelClosureException;
    if (!hasGone) {
      fault.printStackTrace();
    }
    var _ = context.close();
  }
}
