@NullMarked
package io.firstclaim.processor.engine.offset;

import org.jspecify.annotations.NullMarked;
