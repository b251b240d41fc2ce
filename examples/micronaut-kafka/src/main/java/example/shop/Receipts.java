package example.shop;

import io.micronaut.configuration.kafka.annotation.KafkaClient;
import io.micronaut.configuration.kafka.annotation.KafkaKey;
import io.micronaut.configuration.kafka.annotation.Topic;
import io.micronaut.messaging.annotation.MessageHeader;

/** Sends receipts, and waits until they are acknowledged by all in-sync replicas. */
@KafkaClient(acks = KafkaClient.Acknowledge.ALL)
@MessageHeader(name = "zone", value = "${firstclaim.zone}")
interface Receipts {
  @Topic("receipts")
  void send(@KafkaKey String payment, String amount);
}
