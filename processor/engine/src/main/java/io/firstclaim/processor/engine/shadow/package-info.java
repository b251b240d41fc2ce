/** Internal: what shadow mode finds out of records that nobody handles. */
@NullMarked
package io.firstclaim.processor.engine.shadow;

import org.jspecify.annotations.NullMarked;
