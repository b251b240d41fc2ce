@NullMarked
package io.firstclaim.processor.offset;

import org.jspecify.annotations.NullMarked;
