/** Tests of the log. */
@NullMarked
package io.firstclaim.processor.log;

import org.jspecify.annotations.NullMarked;
