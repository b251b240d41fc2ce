/** OpenTelemetry, as the settings say. */
@NullMarked
package io.firstclaim.processor.service.tracing;

import org.jspecify.annotations.NullMarked;
