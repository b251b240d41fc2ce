/** Tests of the topics that an instance needs. */
@NullMarked
package io.firstclaim.processor.engine.kafka;

import org.jspecify.annotations.NullMarked;
