@NullMarked
package io.firstclaim.processor.engine.intake;

import org.jspecify.annotations.NullMarked;
