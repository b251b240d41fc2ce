@NullMarked
package io.firstclaim.processor.engine.admission;

import org.jspecify.annotations.NullMarked;
