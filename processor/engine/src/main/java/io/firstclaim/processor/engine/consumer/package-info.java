/** Internal: the poll loop and what happens to each record it delivers. */
@NullMarked
package io.firstclaim.processor.engine.consumer;

import org.jspecify.annotations.NullMarked;
