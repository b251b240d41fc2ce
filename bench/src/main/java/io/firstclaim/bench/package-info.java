/** What {@code mvn -Pbench} measures: every figure against a baseline of the same run. */
@NullMarked
package io.firstclaim.bench;

import org.jspecify.annotations.NullMarked;
