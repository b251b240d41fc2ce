/** Internal: how far a partition may be committed. */
@NullMarked
package io.firstclaim.processor.engine.offset;

import org.jspecify.annotations.NullMarked;
