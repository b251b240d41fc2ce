@NullMarked
package io.firstclaim.processor.audit.topology;

import org.jspecify.annotations.NullMarked;
