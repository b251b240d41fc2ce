@NullMarked
package io.firstclaim.processor.engine.handler;

import org.jspecify.annotations.NullMarked;
