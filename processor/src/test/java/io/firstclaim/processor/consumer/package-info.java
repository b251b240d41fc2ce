@NullMarked
package io.firstclaim.processor.consumer;

import org.jspecify.annotations.NullMarked;
