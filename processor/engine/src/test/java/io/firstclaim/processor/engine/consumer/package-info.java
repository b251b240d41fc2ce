@NullMarked
package io.firstclaim.processor.engine.consumer;

import org.jspecify.annotations.NullMarked;
