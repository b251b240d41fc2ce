/** What is written to the log, and how. */
@NullMarked
package io.firstclaim.processor.log;

import org.jspecify.annotations.NullMarked;
