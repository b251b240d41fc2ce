package io.firstclaim.processor.service.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.processor.service.config.Arguments.Command;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArgumentsTest {
  @ParameterizedTest
  @ValueSource(strings = {"order-1", "-firstclaim.zone=a", "--help", "claim", "", "a b"})
  void whatFollowsClaim_isTheId_whateverItLooksLike(String id) {
    Arguments arguments = Arguments.parse("claim", id, "-firstclaim.claim.backend=s3");

    assertThat(arguments.command()).isEqualTo(Command.CLAIM);
    assertThat(arguments.id()).isEqualTo(id);
    assertThat(arguments.settings()).isEqualTo(Map.of("firstclaim.claim.backend", "s3"));
  }

  @Test
  void claimWithoutAnId_isAWrongArgument() {
    assertThatThrownBy(() -> Arguments.parse("claim")).isInstanceOf(WrongSettingException.class);
  }

  @Test
  void otherCommands_haveNoId() {
    assertThat(Arguments.parse("probe").id()).isNull();
    assertThat(Arguments.parse().command()).isEqualTo(Command.SERVE);
  }
}
