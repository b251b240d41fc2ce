/** Internal: takes each record in flight from its delivery to its end. */
@NullMarked
package io.firstclaim.processor.engine.flow;

import org.jspecify.annotations.NullMarked;
