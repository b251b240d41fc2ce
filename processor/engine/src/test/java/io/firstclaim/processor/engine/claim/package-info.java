@NullMarked
package io.firstclaim.processor.engine.claim;

import org.jspecify.annotations.NullMarked;
