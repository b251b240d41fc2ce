/** Internal: the topology over the outcomes topic, and what its stores hold. */
@NullMarked
package io.firstclaim.processor.audit.topology;

import org.jspecify.annotations.NullMarked;
