/** How far a partition may be committed. */
@NullMarked
package io.firstclaim.processor.offset;

import org.jspecify.annotations.NullMarked;
