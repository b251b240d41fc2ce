/** The settings: read once at start, checked, immutable. */
@NullMarked
package io.firstclaim.processor.service.config;

import org.jspecify.annotations.NullMarked;
