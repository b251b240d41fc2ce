/**
 * A setting: its name, its default, what it may be and what it means, declared once for whoever
 * sets it in code, reads it from text or documents it.
 */
@NullMarked
package io.firstclaim.processor.engine.setting;

import org.jspecify.annotations.NullMarked;
