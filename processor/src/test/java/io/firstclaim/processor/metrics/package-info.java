@NullMarked
package io.firstclaim.processor.metrics;

import org.jspecify.annotations.NullMarked;
