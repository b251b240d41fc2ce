package io.firstclaim.lock.aws;

import io.firstclaim.lock.OneLine;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkClient;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.pagination.sync.SdkIterable;

/**
 * A client of the SDK whose requests fail by the SDK's exceptions alone, as who does not know what
 * became of a write must at least know that. The SDK lets through what its HTTP client throws where
 * a time limit ends a request at an awkward moment: with httpclient5 5.6 a CancellationException
 * while it waits for a connection, a ConnectionShutdownException or a NullPointerException while
 * that is made. A client that was closed is no such fault: no repetition gets an answer of it.
 */
public final class TranslatedFaults implements InvocationHandler {
  /** What httpclient5 says of a client that was closed, by an exception of no class of its own. */
  private static final String CLOSED = "Connection pool shut down";

  private final SdkClient client;

  private TranslatedFaults(SdkClient client) {
    this.client = client;
  }

  /** A client that makes its calls by this one. */
  public static <C extends SdkClient> C of(Class<C> type, C client) {
    return isTranslated(client)
        ? client
        : type.cast(
            Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, new TranslatedFaults(client)));
  }

  private static boolean isTranslated(Object client) {
    return Proxy.isProxyClass(client.getClass())
        && Proxy.getInvocationHandler(client) instanceof TranslatedFaults;
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args)
      throws Throwable {
    if (SdkIterable.class.isAssignableFrom(method.getReturnType())) {
      // Its pages are asked for later, by the client that makes it.
      return InvocationHandler.invokeDefault(proxy, method, args);
    }
    try {
      return method.invoke(client, args);
    } catch (InvocationTargetException e) {
      throw e.getCause() instanceof RuntimeException fault && isHttpClients(fault)
          ? SdkClientException.create(inWords(fault), fault)
          : e.getCause();
    }
  }

  private static boolean isHttpClients(RuntimeException fault) {
    return !(fault instanceof SdkException) && !CLOSED.equals(fault.getMessage());
  }

  private static String inWords(RuntimeException fault) {
    return fault instanceof CancellationException
        ? "no connection was free within the time limit"
        : "the SDK failed: " + OneLine.of(fault.toString());
  }
}
