package io.firstclaim.processor.service.security;

import io.micronaut.context.annotation.Property;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.http.netty.channel.ChannelPipelineCustomizer;
import io.micronaut.http.server.netty.NettyServerCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes each connection that has not brought a whole request within {@code
 * micronaut.server.read-idle-timeout} of its beginning, or of the last answer, unless another
 * request is worked on. Micronaut's own timeouts do not do that: with a byte now and then, a
 * connection is held for ever.
 */
@Singleton
final class SlowRequests implements BeanCreatedEventListener<NettyServerCustomizer.Registry> {
  private final Duration limit;

  SlowRequests(@Property(name = "micronaut.server.read-idle-timeout") Duration limit) {
    this.limit = limit;
  }

  @Override
  public NettyServerCustomizer.Registry onCreated(
      BeanCreatedEvent<NettyServerCustomizer.Registry> event) {
    NettyServerCustomizer.Registry registry = event.getBean();
    registry.register(new OnConnection(limit, null));
    return registry;
  }

  private record OnConnection(Duration limit, @Nullable Channel channel)
      implements NettyServerCustomizer {
    @Override
    public NettyServerCustomizer specializeForChannel(Channel channel, ChannelRole role) {
      return role == ChannelRole.CONNECTION ? new OnConnection(limit, channel) : this;
    }

    @Override
    public void onStreamPipelineBuilt() {
      if (channel != null
          && channel.pipeline().get(ChannelPipelineCustomizer.HANDLER_HTTP_SERVER_CODEC) != null) {
        channel
            .pipeline()
            .addAfter(
                ChannelPipelineCustomizer.HANDLER_HTTP_SERVER_CODEC,
                "firstclaim-slow-requests",
                new Deadline(limit));
      }
    }
  }

  /** The deadline of one connection; used by its thread alone. */
  static final class Deadline extends ChannelDuplexHandler {
    private final Duration limit;
    private @Nullable Future<?> end;

    /** The whole requests that have come, less the answers: below zero after an early answer. */
    private int open;

    Deadline(Duration limit) {
      this.limit = limit;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
      begin(context);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
      if (message instanceof LastHttpContent) {
        open++;
        beginUnlessWorkedOn(context);
      }
      super.channelRead(context, message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise)
        throws Exception {
      if (message instanceof LastHttpContent && !isInterim(message)) {
        open--;
        beginUnlessWorkedOn(context);
      }
      super.write(context, message, promise);
    }

    /** Whether another answer to the same request follows this one. */
    private static boolean isInterim(Object answer) {
      return answer instanceof HttpResponse response
          && response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
      cancel();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
      cancel();
      super.channelInactive(context);
    }

    private void beginUnlessWorkedOn(ChannelHandlerContext context) {
      if (open > 0) {
        cancel();
      } else {
        begin(context);
      }
    }

    private void begin(ChannelHandlerContext context) {
      cancel();
      end =
          context
              .executor()
              .schedule(
                  () -> {
                    var _ = context.close();
                  },
                  limit.toMillis(),
                  TimeUnit.MILLISECONDS);
    }

    private void cancel() {
      if (end != null) {
        end.cancel(false);
      }
    }
  }
}
