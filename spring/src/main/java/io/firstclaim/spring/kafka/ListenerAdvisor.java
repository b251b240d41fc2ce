package io.firstclaim.spring.kafka;

import io.firstclaim.spring.autoconfigure.StartRefusedException;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.config.KafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpoint;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Shows every bean, and every container that a container factory makes, to the {@link
 * DeduplicatedListeners}; and has them checked before the first container starts.
 */
final class ListenerAdvisor implements BeanPostProcessor, SmartLifecycle {
  private final DeduplicatedListeners listeners;
  private volatile boolean running;

  ListenerAdvisor(DeduplicatedListeners listeners) {
    this.listeners = listeners;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    listeners.found(AopUtils.getTargetClass(bean));
    return bean instanceof KafkaListenerContainerFactory<?> factory ? shown(factory, name) : bean;
  }

  private Object shown(KafkaListenerContainerFactory<?> factory, String name) {
    ProxyFactory proxy = new ProxyFactory(factory);
    proxy.setProxyTargetClass(true);
    proxy.addAdvice(
        (MethodInterceptor)
            call -> {
              Object made = call.proceed();
              if (made instanceof MessageListenerContainer container
                  && call.getArguments().length == 1
                  && call.getArguments()[0] instanceof KafkaListenerEndpoint endpoint) {
                listeners.made(container, endpoint, factory);
              }
              return made;
            });
    try {
      return proxy.getProxy();
    } catch (AopConfigException e) {
      throw new StartRefusedException(
          "the container factory %s cannot be proxied (%s), so nothing would deduplicate for its"
                  .formatted(name, e.getMessage())
              + " listeners",
          "let its class not be final");
    }
  }

  @Override
  public void start() {
    listeners.requireAllAdvised();
    running = true;
  }

  @Override
  public void stop() {
    running = false;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /** This starts before all containers. */
  @Override
  public int getPhase() {
    return Integer.MIN_VALUE;
  }
}
