/** What the author of a handler compiles against: the handler, its context and its result. */
@NullMarked
package io.firstclaim.processor.handler;

import org.jspecify.annotations.NullMarked;
