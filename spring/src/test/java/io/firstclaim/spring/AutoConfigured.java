package io.firstclaim.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** Boot's auto-configuration without that of Spring Cloud AWS, which would look for a region. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@EnableAutoConfiguration(
    excludeName = {
      "io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration",
      "io.awspring.cloud.autoconfigure.core.CredentialsProviderAutoConfiguration"
    })
public @interface AutoConfigured {}
