/** Tests of the topics that an instance needs. */
@NullMarked
package io.firstclaim.processor.topic;

import org.jspecify.annotations.NullMarked;
