package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.type.LogicalType;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import jakarta.inject.Singleton;
import java.util.List;

/**
 * Takes the JSON of a request at its word. A field that nobody knows is an error, as it may be the
 * misspelt one that was to keep an act within bounds; and no value is converted: {@code "dryRun":
 * "yes"} must not become a redrive.
 */
@Singleton
final class StrictJson implements BeanCreatedEventListener<ObjectMapper> {
  @Override
  @SuppressWarnings("deprecation") // a mapper that is made can be changed in no other way
  public ObjectMapper onCreated(BeanCreatedEvent<ObjectMapper> event) {
    ObjectMapper mapper = event.getBean();
    mapper.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    mapper.disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT);
    mapper.disable(DeserializationFeature.UNWRAP_SINGLE_VALUE_ARRAYS);
    mapper.configure(MapperFeature.ALLOW_COERCION_OF_SCALARS, false);
    for (CoercionInputShape shape :
        List.of(CoercionInputShape.Integer, CoercionInputShape.Float, CoercionInputShape.Boolean)) {
      mapper.coercionConfigFor(LogicalType.Textual).setCoercion(shape, CoercionAction.Fail);
    }
    return mapper;
  }
}
