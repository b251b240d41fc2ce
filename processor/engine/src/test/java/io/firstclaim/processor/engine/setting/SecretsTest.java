package io.firstclaim.processor.engine.setting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SecretsTest {
  @ParameterizedTest
  @CsvSource({
    "kafka.ssl.key.password,x",
    "kafka.ssl.keystore.key,x",
    "kafka.sasl.jaas.config,x",
    "kafka.sasl.oauthbearer.client.credentials.client.secret,x",
    "kafka.basic.auth.user.info,me:x",
    "FIRSTCLAIM_HANDLER_HTTP_PASSWORD,x",
    "kafka.schema.registry.url,https://me:x@registry",
    "firstclaim.handler.http.url,http://me:x@127.0.0.1/y"
  })
  void secret_isHidden(String property, String value) {
    assertThat(Secrets.shown(property, value)).startsWith("(hidden");
  }

  @ParameterizedTest
  @CsvSource({
    "http://127.0.0.1/y?key=x,http://127.0.0.1/y?(hidden)",
    "https://host:8443?sig=a/b@c,https://host:8443?(hidden)",
    "http://127.0.0.1/y#x,http://127.0.0.1/y#(hidden)",
    "http://127.0.0.1/y?,http://127.0.0.1/y?(hidden)"
  })
  void queryOfAnAddress_isHidden_andItsPlaceIsShown(String value, String shown) {
    assertThat(Secrets.shown("firstclaim.handler.http.url", value)).isEqualTo(shown);
  }

  @ParameterizedTest
  @CsvSource({
    "firstclaim.input.record-id,key",
    "kafka.bootstrap.servers,one:9092",
    "kafka.ssl.keystore.location,/etc/keys",
    "firstclaim.handler.http.url,http://127.0.0.1/y",
    "firstclaim.input.record-id,json:/why?not"
  })
  void otherValue_isShown(String property, String value) {
    assertThat(Secrets.shown(property, value)).isEqualTo(value);
  }
}
