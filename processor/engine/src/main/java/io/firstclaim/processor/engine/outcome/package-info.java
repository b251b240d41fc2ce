/** Internal: what became of each record, published and heard from the other zones. */
@NullMarked
package io.firstclaim.processor.engine.outcome;

import org.jspecify.annotations.NullMarked;
