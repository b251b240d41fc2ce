/** How a record's ID is found. */
@NullMarked
package io.firstclaim.processor.identity;

import org.jspecify.annotations.NullMarked;
