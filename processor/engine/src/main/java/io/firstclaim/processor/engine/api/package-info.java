/**
 * What the engine and whoever runs it tell each other: settings in, events and state out. Public,
 * like the package above it; separate, so that the internal packages know this one and not the
 * engine.
 */
@NullMarked
package io.firstclaim.processor.engine.api;

import org.jspecify.annotations.NullMarked;
