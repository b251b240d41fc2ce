/** Redriving dead letters: in the background, by one instance at a time, to the end. */
@NullMarked
package io.firstclaim.processor.service.redrive;

import org.jspecify.annotations.NullMarked;
