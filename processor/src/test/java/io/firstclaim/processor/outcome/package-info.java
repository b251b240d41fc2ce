@NullMarked
package io.firstclaim.processor.outcome;

import org.jspecify.annotations.NullMarked;
