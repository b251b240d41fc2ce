/** Internal: polls records, keeps their order, and commits what is settled. */
@NullMarked
package io.firstclaim.processor.engine.intake;

import org.jspecify.annotations.NullMarked;
