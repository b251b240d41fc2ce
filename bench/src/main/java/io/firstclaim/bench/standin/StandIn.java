package io.firstclaim.bench.standin;

import io.firstclaim.stack.standin.DynamoDbInMemory;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * The server, a process of its own: {@code StandIn PORT MILLISECONDS} answers each request so much
 * later. It keeps everything in memory and ends with the process.
 */
public final class StandIn {
  /** More than DynamoDB takes. */
  private static final int LARGEST_REQUEST = 16 << 20;

  private StandIn() {}

  /** Serves until it is ended. */
  public static void main(String[] args) throws InterruptedException {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
    Duration latency = Duration.ofMillis(Long.parseLong(args[1]));
    Channel server = serve(address, latency);
    System.out.printf("The stand-in for DynamoDB listens at %s%n", server.localAddress());
    server.closeFuture().sync();
  }

  /**
   * Serves from now on, until the channel is closed.
   *
   * @param latency how much longer each answer takes
   */
  public static Channel serve(InetSocketAddress address, Duration latency)
      throws InterruptedException {
    DynamoDbInMemory dynamoDb = new DynamoDbInMemory();
    EventLoopGroup threads = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
    return new ServerBootstrap()
        .group(threads)
        .channel(NioServerSocketChannel.class)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childHandler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel channel) {
                channel
                    .pipeline()
                    .addLast(
                        new HttpServerCodec(),
                        new HttpObjectAggregator(LARGEST_REQUEST),
                        new Answers(dynamoDb, latency));
              }
            })
        .bind(address)
        .sync()
        .channel();
  }
}
