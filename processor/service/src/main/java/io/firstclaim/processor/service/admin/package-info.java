/**
 * What people and scripts ask of a running instance over HTTP, and what operators do to records and
 * to it. Observes; what it changes, it changes through the store and the engine.
 */
@NullMarked
package io.firstclaim.processor.service.admin;

import org.jspecify.annotations.NullMarked;
