/** Internal: what a record has to pass before it is claimed. */
@NullMarked
package io.firstclaim.processor.engine.admission;

import org.jspecify.annotations.NullMarked;
