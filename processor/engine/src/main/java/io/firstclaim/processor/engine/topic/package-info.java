/** Internal: the topics an instance needs. */
@NullMarked
package io.firstclaim.processor.engine.topic;

import org.jspecify.annotations.NullMarked;
