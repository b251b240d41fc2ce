/** The command line. */
@NullMarked
package io.firstclaim.processor.service.cli;

import org.jspecify.annotations.NullMarked;
