@NullMarked
package io.firstclaim.processor.audit;

import org.jspecify.annotations.NullMarked;
