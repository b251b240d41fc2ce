@NullMarked
package io.firstclaim.processor.engine.flow;

import org.jspecify.annotations.NullMarked;
