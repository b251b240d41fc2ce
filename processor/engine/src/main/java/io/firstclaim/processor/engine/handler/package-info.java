/** Internal: calls handlers, watches over them, and says how the downstream took each record. */
@NullMarked
package io.firstclaim.processor.engine.handler;

import org.jspecify.annotations.NullMarked;
