/**
 * What the engine and whoever runs it tell each other: settings in, events and state out. Open,
 * like the package above it; apart from it, so that the internal packages know these and not the
 * engine.
 */
@NullMarked
package io.firstclaim.processor.engine.api;

import org.jspecify.annotations.NullMarked;
