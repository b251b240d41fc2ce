package io.firstclaim.spring.web;

import io.firstclaim.spring.IdempotencyKey;
import io.firstclaim.spring.autoconfigure.EarlyReturn;
import io.firstclaim.spring.autoconfigure.StartRefusedException;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Knows the handlers that are to be called once for each key, and refuses those that cannot be.
 * Thread-safe once the application has started.
 */
final class IdempotentHandlers implements BeanPostProcessor, SmartInitializingSingleton {
  private static final Set<RequestMethod> SAFE =
      Collections.unmodifiableSet(
          EnumSet.of(
              RequestMethod.GET, RequestMethod.HEAD, RequestMethod.OPTIONS, RequestMethod.TRACE));

  /**
   * The mappings, in the order in which the dispatcher asks them; asked for when all beans are
   * there.
   */
  private final Supplier<List<HandlerMapping>> mappings;

  private final Map<Method, Class<?>> annotated = new ConcurrentHashMap<>();
  private List<HandlerMapping> asked = List.of();
  private Set<String> methods = Set.of();

  IdempotentHandlers(Supplier<List<HandlerMapping>> mappings) {
    this.mappings = mappings;
  }

  /** A handler that a request is for, with the dispatcher's chain of what is before it. */
  record Route(IdempotencyKey annotation, String pattern, HandlerExecutionChain chain) {
    /**
     * Tells the page that the request is of whether it may see the answer, as Spring has it done
     * before the handler: a replay and a refusal come from before that, and a page must see them.
     *
     * @return false if the request is refused, as its origin is none that may send it
     */
    boolean admitsOrigin(HttpServletRequest request, HttpServletResponse response)
        throws ServletException, IOException {
      try {
        for (HandlerInterceptor each : chain.getInterceptorList()) {
          if (each instanceof CorsConfigurationSource) {
            return each.preHandle(request, response, chain.getHandler());
          }
        }
        return true;
      } catch (ServletException | IOException | RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new ServletException(e);
      }
    }
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    Class<?> type = AopUtils.getTargetClass(bean);
    AnnotatedHandlers.of(type).forEach(method -> annotated.put(method, type));
    return bean;
  }

  @Override
  public void afterSingletonsInstantiated() {
    asked = List.copyOf(mappings.get());
    Map<Method, Set<RequestMethod>> mapped = new HashMap<>();
    for (HandlerMapping mapping : asked) {
      if (mapping instanceof RequestMappingInfoHandlerMapping handlers) {
        handlers.getHandlerMethods().forEach((info, handler) -> add(mapped, info, handler));
      }
    }
    if (annotated.isEmpty()) {
      return;
    }
    Set<String> names = new HashSet<>();
    annotated.forEach(
        (method, type) -> {
          Set<RequestMethod> takes = mapped.getOrDefault(method, Set.of());
          require(
              !takes.isEmpty(),
              method,
              "it is no handler of a request",
              "put it on a @PostMapping or the like, of a @RestController");
          require(
              Collections.disjoint(takes, SAFE),
              method,
              "it is called for GET or other methods that change nothing, or for any method",
              "name its methods: POST, PUT, PATCH or DELETE");
          require(
              !EarlyReturn.is(method, type),
              method,
              "it answers after it has returned, so its answer cannot be stored first",
              "return the answer itself");
          takes.forEach(one -> names.add(one.name()));
        });
    methods = Set.copyOf(names);
  }

  /** Its bean may not be there yet, as that of a lazy or a scoped one is not. */
  private void add(
      Map<Method, Set<RequestMethod>> mapped, RequestMappingInfo info, HandlerMethod handler) {
    Method specific = AopUtils.getMostSpecificMethod(handler.getMethod(), handler.getBeanType());
    if (AnnotatedHandlers.of(specific) != null) {
      annotated.put(specific, handler.getBeanType());
    }
    Set<RequestMethod> takes =
        mapped.computeIfAbsent(specific, method -> EnumSet.noneOf(RequestMethod.class));
    Set<RequestMethod> named = info.getMethodsCondition().getMethods();
    takes.addAll(named.isEmpty() ? EnumSet.allOf(RequestMethod.class) : named);
  }

  private static void require(boolean holds, Method method, String fault, String remedy) {
    if (!holds) {
      throw new StartRefusedException(
          "@IdempotencyKey cannot be kept on %s: %s".formatted(method, fault), remedy);
    }
  }

  /** The handler that the dispatcher will call for this request; null if it is none of ours. */
  @Nullable Route find(HttpServletRequest request) {
    if (!methods.contains(request.getMethod())) {
      return null;
    }
    LookedUp lookedUp = new LookedUp(request);
    ServletRequestPathUtils.parseAndCache(lookedUp);
    try {
      for (HandlerMapping mapping : asked) {
        HandlerExecutionChain found = mapping.getHandler(lookedUp);
        if (found != null) {
          return route(found, lookedUp);
        }
      }
    } catch (Exception e) {
      // There is no handler for it, as the dispatcher will find as well, and will say why.
    }
    return null;
  }

  private static @Nullable Route route(HandlerExecutionChain found, LookedUp request) {
    if (!(found.getHandler() instanceof HandlerMethod handler)) {
      return null;
    }
    IdempotencyKey annotation =
        AnnotatedHandlers.of(
            AopUtils.getMostSpecificMethod(handler.getMethod(), handler.getBeanType()));
    Object pattern = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
    return annotation == null ? null : new Route(annotation, String.valueOf(pattern), found);
  }

  /** Keeps what looking up leaves in a request from the request itself. */
  private static final class LookedUp extends HttpServletRequestWrapper {
    private final Map<String, Object> own = new HashMap<>();

    LookedUp(HttpServletRequest request) {
      super(request);
    }

    @Override
    public @Nullable Object getAttribute(String name) {
      return own.containsKey(name) ? own.get(name) : super.getAttribute(name);
    }

    @Override
    public void setAttribute(String name, @Nullable Object value) {
      own.put(name, value);
    }

    @Override
    public void removeAttribute(String name) {
      own.put(name, null);
    }
  }
}
