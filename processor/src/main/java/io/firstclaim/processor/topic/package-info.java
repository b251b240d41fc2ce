/** The topics an instance needs. */
@NullMarked
package io.firstclaim.processor.topic;

import org.jspecify.annotations.NullMarked;
