package io.firstclaim.bench.standin;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.bench.standin.Refusal.Reason;
import io.netty.buffer.ByteBuf;
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
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/** One connection's requests, one after the other: DynamoDB's JSON 1.0 over HTTP. */
final class Answers extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final String TARGET = "DynamoDB_20120810.";
  private static final String ERROR = "com.amazonaws.dynamodb.v20120810#";
  private static final String JSON = "application/x-amz-json-1.0";
  private static final AtomicLong REQUESTS = new AtomicLong();

  private final Operations operations;
  private final ObjectMapper mapper;
  private final Duration latency;

  Answers(Operations operations, ObjectMapper mapper, Duration latency) {
    this.operations = operations;
    this.mapper = mapper;
    this.latency = latency;
  }

  private record Body(HttpResponseStatus status, ByteBuf json) {}

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request)
      throws IOException {
    Body body = body(request);
    FullHttpResponse response =
        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, body.status(), body.json());
    CRC32 checksum = new CRC32();
    checksum.update(body.json().nioBuffer());
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, body.json().readableBytes())
        .set(HttpHeaderNames.DATE, now())
        .set("x-amz-crc32", checksum.getValue())
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

  private Body body(FullHttpRequest request) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (JsonGenerator json = mapper.createGenerator(bytes)) {
      String target = request.headers().get("x-amz-target", "");
      if (!target.startsWith(TARGET)) {
        throw Refusal.of("UnknownOperationException", "Unknown target " + target);
      }
      operations.answer(
          target.substring(TARGET.length()), ByteBufUtil.getBytes(request.content()), json);
    } catch (Refusal e) {
      return new Body(HttpResponseStatus.BAD_REQUEST, Unpooled.wrappedBuffer(refusal(e)));
    } catch (JsonProcessingException e) {
      Refusal refusal = Refusal.of("SerializationException", e.getOriginalMessage());
      return new Body(HttpResponseStatus.BAD_REQUEST, Unpooled.wrappedBuffer(refusal(refusal)));
    }
    return new Body(HttpResponseStatus.OK, Unpooled.wrappedBuffer(bytes.toByteArray()));
  }

  private byte[] refusal(Refusal refusal) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (JsonGenerator json = mapper.createGenerator(bytes)) {
      json.writeStartObject();
      json.writeStringField("__type", ERROR + refusal.type());
      json.writeStringField("Message", refusal.text());
      if (refusal.item() != null) {
        json.writeFieldName("Item");
        Value.writeItem(json, refusal.item());
      }
      if (!refusal.reasons().isEmpty()) {
        json.writeArrayFieldStart("CancellationReasons");
        for (Reason reason : refusal.reasons()) {
          write(json, reason);
        }
        json.writeEndArray();
      }
      json.writeEndObject();
    }
    return bytes.toByteArray();
  }

  private static void write(JsonGenerator json, Reason reason) throws IOException {
    json.writeStartObject();
    json.writeStringField("Code", reason.code());
    if (reason.message() != null) {
      json.writeStringField("Message", reason.message());
    }
    if (reason.item() != null) {
      json.writeFieldName("Item");
      Value.writeItem(json, reason.item());
    }
    json.writeEndObject();
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
