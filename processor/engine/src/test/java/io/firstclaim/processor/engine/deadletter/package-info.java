@NullMarked
package io.firstclaim.processor.engine.deadletter;

import org.jspecify.annotations.NullMarked;
