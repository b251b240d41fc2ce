/** Tests of tracing. */
@NullMarked
package io.firstclaim.processor.service.tracing;

import org.jspecify.annotations.NullMarked;
