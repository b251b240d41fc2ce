@NullMarked
package io.firstclaim.processor.deadletter;

import org.jspecify.annotations.NullMarked;
