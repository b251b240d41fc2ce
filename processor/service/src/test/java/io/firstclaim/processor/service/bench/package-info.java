/** What {@code mvn -Pbench} measures: every figure against a baseline of the same run. */
@NullMarked
package io.firstclaim.processor.service.bench;

import org.jspecify.annotations.NullMarked;
