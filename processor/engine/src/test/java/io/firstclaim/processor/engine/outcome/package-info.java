@NullMarked
package io.firstclaim.processor.engine.outcome;

import org.jspecify.annotations.NullMarked;
