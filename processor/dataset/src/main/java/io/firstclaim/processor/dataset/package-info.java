/**
 * A data lake that many instances write to: objects written once, and a registry that lists them.
 */
@NullMarked
package io.firstclaim.processor.dataset;

import org.jspecify.annotations.NullMarked;
