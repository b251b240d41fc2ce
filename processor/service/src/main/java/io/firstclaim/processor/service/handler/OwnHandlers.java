package io.firstclaim.processor.service.handler;

import io.firstclaim.processor.handler.RecordHandler;
import io.micronaut.context.ApplicationContext;
import io.micronaut.core.naming.NameUtils;
import io.micronaut.inject.BeanDefinition;
import io.micronaut.inject.qualifiers.Qualifiers;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/**
 * The user's handlers: beans, and classes that their jar names as a service. A bean has the name it
 * was given; the others go by that of their class, with or without its package.
 */
@Singleton
public final class OwnHandlers {
  private final ApplicationContext context;

  OwnHandlers(ApplicationContext context) {
    this.context = context;
  }

  /** Their names, for people. */
  public List<String> names() {
    return Stream.concat(
            beans().map(OwnHandlers::name),
            services().map(service -> service.type().getSimpleName()))
        .distinct()
        .sorted()
        .toList();
  }

  /** Whether one has this name. */
  public boolean has(String name) {
    return beans().anyMatch(bean -> name(bean).equals(name)) || service(name).isPresent();
  }

  /** The handler of this name, which must be one of these. */
  public RecordHandler get(String name) {
    return context
        .findBean(RecordHandler.class, Qualifiers.byName(name))
        .or(() -> service(name).map(ServiceLoader.Provider::get))
        .orElseThrow();
  }

  private Stream<BeanDefinition<RecordHandler>> beans() {
    return context.getBeanDefinitions(RecordHandler.class).stream();
  }

  private static String name(BeanDefinition<RecordHandler> bean) {
    return bean.stringValue(Named.class)
        .orElseGet(() -> NameUtils.decapitalize(bean.getBeanType().getSimpleName()));
  }

  private Optional<ServiceLoader.Provider<RecordHandler>> service(String name) {
    return services()
        .filter(
            service ->
                service.type().getSimpleName().equals(name)
                    || service.type().getName().equals(name))
        .findFirst();
  }

  private Stream<ServiceLoader.Provider<RecordHandler>> services() {
    return ServiceLoader.load(RecordHandler.class, context.getClassLoader()).stream();
  }
}
