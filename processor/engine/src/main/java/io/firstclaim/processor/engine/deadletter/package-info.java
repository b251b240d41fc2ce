/** Internal: records that were given up, on their way to an operator. */
@NullMarked
package io.firstclaim.processor.engine.deadletter;

import org.jspecify.annotations.NullMarked;
