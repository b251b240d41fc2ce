/** What one asks an audit, and how it answers. */
@NullMarked
package io.firstclaim.processor.audit.api;

import org.jspecify.annotations.NullMarked;
