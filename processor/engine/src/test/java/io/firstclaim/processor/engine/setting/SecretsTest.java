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
    "firstclaim.input.record-id,key",
    "kafka.bootstrap.servers,one:9092",
    "kafka.ssl.keystore.location,/etc/keys",
    "firstclaim.handler.http.url,http://127.0.0.1/y?mail=a@b"
  })
  void otherValue_isShown(String property, String value) {
    assertThat(Secrets.shown(property, value)).isEqualTo(value);
  }
}
