package io.firstclaim.simulation.kafka;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Makes of an object that has some of an interface's methods one that has the interface. */
final class Partial {
  private static final Map<Method, Method> FOUND = new ConcurrentHashMap<>();

  private Partial() {}

  /**
   * An object of this type; what the other one does not have is unsupported.
   *
   * @param type such as Kafka's Consumer, of whose 50 methods the product calls 20
   */
  @SuppressWarnings("ReferenceEquality") // a proxy is equal to nothing but itself
  static <T> T as(Class<T> type, Object some) {
    return type.cast(
        Proxy.newProxyInstance(
            Partial.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, given) -> {
              if (method.getDeclaringClass() == Object.class) {
                return switch (method.getName()) {
                  case "equals" -> proxy == given[0];
                  case "hashCode" -> System.identityHashCode(proxy);
                  default -> some.toString();
                };
              }
              try {
                return FOUND
                    .computeIfAbsent(method, asked -> find(some.getClass(), asked))
                    .invoke(some, given);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private static Method find(Class<?> type, Method asked) {
    try {
      Method found = type.getDeclaredMethod(asked.getName(), asked.getParameterTypes());
      found.setAccessible(true);
      return found;
    } catch (NoSuchMethodException e) {
      throw new UnsupportedOperationException("not simulated: " + asked, e);
    }
  }
}
