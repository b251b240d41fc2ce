/**
 * The main job: two zones on an embedded stack, fed with events that are redelivered until done.
 */
@NullMarked
package io.firstclaim.stack;

import org.jspecify.annotations.NullMarked;
