package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.redrive.Redrives;
import io.micronaut.context.annotation.Factory;
import io.swagger.v3.oas.annotations.OpenAPIDefinition;
import io.swagger.v3.oas.annotations.enums.SecuritySchemeType;
import io.swagger.v3.oas.annotations.info.Info;
import io.swagger.v3.oas.annotations.security.SecurityRequirement;
import io.swagger.v3.oas.annotations.security.SecurityScheme;
import jakarta.inject.Singleton;

/** How the parts of the admin API are made, and what its description says of all of it. */
@Factory
@OpenAPIDefinition(
    info =
        @Info(
            title = "Firstclaim",
            version = "0.1.0",
            description =
                "What a running instance tells readers, and what operators may do: each act needs a"
                    + " reason. Refusals and faults are {\"error\": \"…\"}."),
    security = @SecurityRequirement(name = "token"))
@SecurityScheme(name = "token", type = SecuritySchemeType.HTTP, scheme = "bearer")
final class AdminBeans {
  @Singleton
  Acts acts(Redrives redrives, ServiceSettings settings, TimeSource time) {
    return new Acts(redrives.log(), settings, time);
  }
}
