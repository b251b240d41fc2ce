@NullMarked
package io.firstclaim.processor.engine.trace;

import org.jspecify.annotations.NullMarked;
