package io.firstclaim.spring.test;

import io.firstclaim.spring.autoconfigure.FirstclaimAutoConfiguration;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * Keeps the claims of a test's application in memory, whatever its settings say: beside
 * {@code @SpringBootTest}, or beside a slice, which then has a {@code Deduplicator} and {@code
 * Mutexes}. Each application context has claims of its own.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration(FirstclaimAutoConfiguration.class)
@TestPropertySource(properties = "firstclaim.claim.backend=memory")
public @interface AutoConfigureFirstclaimInMemory {}
