/** Internal: calls handlers, and watches over them. */
@NullMarked
package io.firstclaim.processor.engine.handler;

import org.jspecify.annotations.NullMarked;
