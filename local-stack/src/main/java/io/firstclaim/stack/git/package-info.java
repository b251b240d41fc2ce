/** The product as it was at another commit of this checkout. */
@NullMarked
package io.firstclaim.stack.git;

import org.jspecify.annotations.NullMarked;
