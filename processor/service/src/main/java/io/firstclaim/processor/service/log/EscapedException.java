package io.firstclaim.processor.service.log;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An exception with its stack, as {@code %ex} prints it, but with each message in one line:
 * handlers put text from records into messages, which could otherwise forge lines of the log.
 */
public final class EscapedException extends ThrowableProxyConverter {
  private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}]");

  @Override
  protected String throwableProxyToString(IThrowableProxy thrown) {
    return super.throwableProxyToString(new Escaped(thrown));
  }

  private record Escaped(IThrowableProxy thrown) implements IThrowableProxy {
    private static @Nullable Escaped of(@Nullable IThrowableProxy thrown) {
      return thrown == null ? null : new Escaped(thrown);
    }

    private static @Nullable String escape(@Nullable String text) {
      return text == null ? null : UNPRINTABLE.matcher(text).replaceAll("?");
    }

    @Override
    public @Nullable String getMessage() {
      return escape(thrown.getMessage());
    }

    @Override
    public @Nullable String getOverridingMessage() {
      return escape(thrown.getOverridingMessage());
    }

    @Override
    public String getClassName() {
      return thrown.getClassName();
    }

    @Override
    public StackTraceElementProxy[] getStackTraceElementProxyArray() {
      return thrown.getStackTraceElementProxyArray();
    }

    @Override
    public int getCommonFrames() {
      return thrown.getCommonFrames();
    }

    @Override
    public @Nullable IThrowableProxy getCause() {
      return of(thrown.getCause());
    }

    @Override
    public IThrowableProxy @Nullable [] getSuppressed() {
      IThrowableProxy[] suppressed = thrown.getSuppressed();
      return suppressed == null
          ? null
          : Stream.of(suppressed).map(Escaped::new).toArray(IThrowableProxy[]::new);
    }

    @Override
    public boolean isCyclic() {
      return thrown.isCyclic();
    }
  }
}
