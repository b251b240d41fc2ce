package io.firstclaim.processor.engine;

import io.firstclaim.processor.engine.kafka.TopicIds;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.GroupIdNotFoundException;

/** The ID of the one topic that there is, which a test may make anew; nothing is committed. */
public final class TestTopicIds {
  private final String topic;
  private final AtomicReference<Uuid> id = new AtomicReference<>(Uuid.randomUuid());

  /** The topic is there. */
  public TestTopicIds(String topic) {
    this.topic = topic;
  }

  /** The topic is deleted and made anew. */
  public void change() {
    id.set(Uuid.randomUuid());
  }

  /** Has not asked for it yet. */
  public TopicIds asked() {
    Admin admin =
        (Admin)
            Proxy.newProxyInstance(
                Admin.class.getClassLoader(),
                new Class<?>[] {Admin.class},
                (_, method, _) ->
                    switch (method.getName()) {
                      case "describeTopics" -> new Described(topic, id.get());
                      case "listConsumerGroupOffsets" ->
                          throw new KafkaException(new GroupIdNotFoundException("none"));
                      case "close" -> null;
                      default -> throw new UnsupportedOperationException(method.getName());
                    });
    return new TopicIds(() -> admin, List.of(topic));
  }

  private static final class Described extends DescribeTopicsResult {
    Described(String topic, Uuid id) {
      super(
          null,
          Map.of(
              topic,
              KafkaFuture.completedFuture(
                  new TopicDescription(topic, false, List.of(), null, id))));
    }
  }
}
