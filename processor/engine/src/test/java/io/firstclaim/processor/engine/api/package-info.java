@NullMarked
package io.firstclaim.processor.engine.api;

import org.jspecify.annotations.NullMarked;
