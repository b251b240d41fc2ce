@NullMarked
package io.firstclaim.processor.engine.testing;

import org.jspecify.annotations.NullMarked;
