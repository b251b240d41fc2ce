package io.firstclaim.processor.service.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.processor.engine.setting.WrongSettingException;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

class AwsClientsTest {
  private static Object ask(Region region, Throwable cause) {
    return AwsClients.DYNAMODB.ask(
        region,
        () -> {
          throw new StoreUnavailableException("DynamoDB table x: no answer", cause);
        });
  }

  private static DynamoDbException answer(String code, String message) {
    return (DynamoDbException)
        DynamoDbException.builder()
            .awsErrorDetails(
                AwsErrorDetails.builder().errorCode(code).errorMessage(message).build())
            .build();
  }

  private static SdkClientException unknownHost() {
    return SdkClientException.create("no address", new UnknownHostException("dynamodb"));
  }

  @ParameterizedTest
  @CsvSource({
    "UnrecognizedClientException,AWS credentials=UnrecognizedClientException: AWS refuses them",
    "ExpiredToken,AWS credentials=ExpiredToken: AWS refuses them",
    "AuthorizationHeaderMalformed,AWS_REGION=eu-central-1: it is in another Region"
  })
  void refusedCredentialsOrRegion_areAWrongSetting(String code, String line) {
    assertThatThrownBy(() -> ask(Region.EU_CENTRAL_1, answer(code, "The reason.")))
        .isInstanceOf(WrongSettingException.class)
        .hasMessageStartingWith(line + " (The reason.)");
  }

  @Test
  void regionThatNobodyKnows_andThatHasNoAddress_isAWrongSetting() {
    assertThatThrownBy(() -> ask(Region.of("eu-centrl-1"), unknownHost()))
        .isInstanceOf(WrongSettingException.class)
        .hasMessageStartingWith("AWS_REGION=eu-centrl-1: there is no such Region");
  }

  @Test
  void whatMayPass_isWaitedFor() {
    assertThatThrownBy(() -> ask(Region.EU_CENTRAL_1, unknownHost()))
        .isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> ask(Region.EU_CENTRAL_1, answer("InternalServerError", "")))
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(AwsClients.DYNAMODB.ask(Region.EU_CENTRAL_1, () -> 1)).isEqualTo(1);
  }
}
