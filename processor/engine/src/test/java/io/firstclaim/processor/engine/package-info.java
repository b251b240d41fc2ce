@NullMarked
package io.firstclaim.processor.engine;

import org.jspecify.annotations.NullMarked;
