/** Internal: how a record's ID is found. */
@NullMarked
package io.firstclaim.processor.engine.identity;

import org.jspecify.annotations.NullMarked;
