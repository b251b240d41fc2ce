/** The command line of the admin API, for those who have a shell and no browser. */
@NullMarked
package io.firstclaim.processor.service.cli;

import org.jspecify.annotations.NullMarked;
