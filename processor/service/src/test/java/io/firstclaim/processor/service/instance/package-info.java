/** Tests of tracing. */
@NullMarked
package io.firstclaim.processor.service.instance;

import org.jspecify.annotations.NullMarked;
