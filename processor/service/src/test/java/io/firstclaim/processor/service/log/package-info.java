/** Tests of the log. */
@NullMarked
package io.firstclaim.processor.service.log;

import org.jspecify.annotations.NullMarked;
