/** Internal: claiming a record, keeping its lease, and settling it. */
@NullMarked
package io.firstclaim.processor.engine.claim;

import org.jspecify.annotations.NullMarked;
