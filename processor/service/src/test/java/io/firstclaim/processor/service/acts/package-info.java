/** Tests of the acts. */
@NullMarked
package io.firstclaim.processor.service.acts;

import org.jspecify.annotations.NullMarked;
