@NullMarked
package io.firstclaim.processor.claim;

import org.jspecify.annotations.NullMarked;
