package io.firstclaim.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;

/** As an application's author would write it, whose settings name DynamoDB. */
@SpringBootTest(properties = "firstclaim.claim.dynamodb.table=claims")
@AutoConfigureFirstclaimInMemory
class InMemoryTest {
  @Configuration(proxyBeanMethods = false)
  static class Application {}

  @Test
  void oneAnnotation_keepsClaimsInMemory(
      @Autowired ClaimStore store, @Autowired Deduplicator deduplicator) throws Exception {
    assertThat(store).isInstanceOf(MemoryClaimStore.class);
    assertThat(deduplicator.run(RecordId.of("1"), Fingerprint.none(), lease -> "done"))
        .isEqualTo(new RunResult.Ran("done"));
  }
}
