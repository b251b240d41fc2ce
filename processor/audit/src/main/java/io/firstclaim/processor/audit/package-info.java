/** The audit: what became of each record, and what must not have happened, off the outcomes. */
@NullMarked
package io.firstclaim.processor.audit;

import org.jspecify.annotations.NullMarked;
