/** The settings: read once at start, checked, immutable. */
@NullMarked
package io.firstclaim.processor.engine.config;

import org.jspecify.annotations.NullMarked;
