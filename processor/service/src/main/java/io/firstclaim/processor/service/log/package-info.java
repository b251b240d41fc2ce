/** What is written to the log, and how. */
@NullMarked
package io.firstclaim.processor.service.log;

import org.jspecify.annotations.NullMarked;
