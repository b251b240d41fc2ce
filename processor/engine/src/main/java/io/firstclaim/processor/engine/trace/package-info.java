/** Internal: what becomes of each delivery, told to OpenTelemetry. */
@NullMarked
package io.firstclaim.processor.engine.trace;

import org.jspecify.annotations.NullMarked;
