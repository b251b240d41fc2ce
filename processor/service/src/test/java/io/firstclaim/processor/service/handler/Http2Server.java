package io.firstclaim.processor.service.handler;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;

/**
 * A server on the loopback that speaks HTTP/2 and HTTP/1.1 over TLS and answers everything with
 * 200, after a while.
 */
final class Http2Server implements AutoCloseable {
  private static final int MAX_BODY = 2 << 20;

  private final EventLoopGroup threads =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Queue<Channel> connections = new ConcurrentLinkedQueue<>();
  private final Queue<String> protocols = new ConcurrentLinkedQueue<>();
  private final Queue<Integer> sizes = new ConcurrentLinkedQueue<>();
  private final Channel channel;

  /** A server that allows so many streams on a connection. */
  Http2Server(KeyManagerFactory keys, int maxStreams, Duration thinking) throws Exception {
    SslContext tls =
        SslContextBuilder.forServer(keys)
            .applicationProtocolConfig(
                new ApplicationProtocolConfig(
                    ApplicationProtocolConfig.Protocol.ALPN,
                    ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                    ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                    ApplicationProtocolNames.HTTP_2,
                    ApplicationProtocolNames.HTTP_1_1))
            .build();
    channel =
        new ServerBootstrap()
            .group(threads)
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel connection) {
                    connections.add(connection);
                    SslHandler secured = tls.newHandler(connection.alloc());
                    secured.setHandshakeTimeout(1, TimeUnit.MINUTES); // a machine may be busy
                    connection.pipeline().addLast(secured, new Negotiated());
                  }

                  final class Negotiated extends ApplicationProtocolNegotiationHandler {
                    Negotiated() {
                      super(ApplicationProtocolNames.HTTP_1_1);
                    }

                    @Override
                    protected void configurePipeline(ChannelHandlerContext context, String name) {
                      if (name.equals(ApplicationProtocolNames.HTTP_2)) {
                        context
                            .pipeline()
                            .addLast(
                                Http2FrameCodecBuilder.forServer()
                                    .initialSettings(
                                        Http2Settings.defaultSettings()
                                            .maxConcurrentStreams(maxStreams))
                                    .build(),
                                new Http2MultiplexHandler(
                                    new ChannelInitializer<>() {
                                      @Override
                                      protected void initChannel(Channel stream) {
                                        stream
                                            .pipeline()
                                            .addLast(
                                                new Http2StreamFrameToHttpObjectCodec(true),
                                                new HttpObjectAggregator(MAX_BODY),
                                                new Answer(name, thinking));
                                      }
                                    }));
                      } else {
                        context
                            .pipeline()
                            .addLast(
                                new HttpServerCodec(),
                                new HttpObjectAggregator(MAX_BODY),
                                new Answer(name, thinking));
                      }
                    }
                  }
                })
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .sync()
            .channel();
  }

  private final class Answer extends SimpleChannelInboundHandler<FullHttpRequest> {
    private final String protocol;
    private final Duration thinking;

    Answer(String protocol, Duration thinking) {
      this.protocol = protocol;
      this.thinking = thinking;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      protocols.add(protocol);
      sizes.add(request.content().readableBytes());
      var response =
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.EMPTY_BUFFER);
      response.headers().set(HttpHeaderNames.CONTENT_LENGTH, 0);
      var _ =
          context
              .executor()
              .schedule(
                  () -> {
                    var _ = context.writeAndFlush(response);
                  },
                  thinking.toMillis(),
                  TimeUnit.MILLISECONDS);
    }
  }

  URI url() {
    int port = ((InetSocketAddress) channel.localAddress()).getPort();
    return URI.create("https://localhost:" + port + "/records");
  }

  /** How many connections there have been. */
  int connections() {
    return connections.size();
  }

  /** The protocol of each request. */
  Queue<String> protocols() {
    return protocols;
  }

  /** The length of each request's body. */
  Queue<Integer> sizes() {
    return sizes;
  }

  @Override
  public void close() {
    threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
