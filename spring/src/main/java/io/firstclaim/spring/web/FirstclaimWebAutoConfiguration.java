package io.firstclaim.spring.web;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.lock.deduplicator.RunListener;
import io.firstclaim.spring.IdempotencyKey;
import io.firstclaim.spring.autoconfigure.FirstclaimAutoConfiguration;
import io.firstclaim.spring.autoconfigure.FirstclaimProperties;
import io.firstclaim.spring.autoconfigure.StartRefusedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.util.unit.DataSize;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerMapping;

/** Has {@link IdempotencyKey} work on handlers of servlet applications. */
@AutoConfiguration(after = FirstclaimAutoConfiguration.class)
public class FirstclaimWebAutoConfiguration {
  /** Made by Spring. */
  FirstclaimWebAutoConfiguration() {}

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
  @ConditionalOnClass(DispatcherServlet.class)
  static class OnServlets {
    /** What fits into an item of DynamoDB beside the claim. */
    private static final DataSize MOST_STORED = DataSize.ofKilobytes(350);

    /** Without end and at once: how often a request is repeated is up to its client. */
    private static final RetryPolicy CLIENTS =
        new RetryPolicy(Integer.MAX_VALUE, new Backoff(Duration.ofNanos(1), Duration.ofNanos(1)));

    @Bean
    static IdempotentHandlers firstclaimIdempotentHandlers(ListableBeanFactory beans) {
      return new IdempotentHandlers(
          () -> {
            List<HandlerMapping> mappings =
                new ArrayList<>(
                    BeanFactoryUtils.beansOfTypeIncludingAncestors(
                            beans, HandlerMapping.class, true, false)
                        .values());
            AnnotationAwareOrderComparator.sort(mappings);
            return mappings;
          });
    }

    /**
     * Without an order, it is behind all filters of the application, for its bean is made after
     * theirs: whoever says who the principal is comes before.
     */
    @Bean
    IdempotencyKeyFilter firstclaimIdempotencyKeys(
        FirstclaimProperties properties,
        IdempotentHandlers handlers,
        ClaimStore store,
        TimeSource time,
        ObjectProvider<RunListener> listeners) {
      Deduplicator deduplicator =
          FirstclaimAutoConfiguration.deduplicator(store, time, properties, listeners)
              .retry(CLIENTS)
              .atMost(properties.handler().timeout())
              .build();
      return new IdempotencyKeyFilter(handlers, deduplicator, limits(properties.web()), time);
    }

    private static IdempotencyKeyFilter.Limits limits(FirstclaimProperties.Web web) {
      require(
          web.maxRequest().toBytes() >= 1 && web.maxRequest().toBytes() < Integer.MAX_VALUE,
          "firstclaim.web.max-request is " + web.maxRequest(),
          "give 1B to 2047MB: each body is held in memory");
      require(
          web.maxAnswer().toBytes() >= 1024 && web.maxAnswer().compareTo(MOST_STORED) <= 0,
          "firstclaim.web.max-answer is " + web.maxAnswer(),
          "give 1KB to 350KB: it must fit into an item of DynamoDB beside the claim");
      return new IdempotencyKeyFilter.Limits(
          (int) web.maxRequest().toBytes(), (int) web.maxAnswer().toBytes());
    }

    private static void require(boolean holds, String fault, String remedy) {
      if (!holds) {
        throw new StartRefusedException(fault, remedy);
      }
    }
  }

  /** Refuses the annotation in reactive applications, where nothing could keep it. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
  static class OnReactive {
    @Bean
    static BeanPostProcessor firstclaimNoIdempotentHandlers() {
      return new BeanPostProcessor() {
        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
          AnnotatedHandlers.of(AopUtils.getTargetClass(bean))
              .forEach(
                  method -> {
                    throw new StartRefusedException(
                        "@IdempotencyKey cannot be kept on %s: the application is a reactive one"
                            .formatted(method),
                        "use Spring MVC, or call Deduplicator.run in the handler");
                  });
          return bean;
        }
      };
    }
  }
}
