@NullMarked
package io.firstclaim.processor.dataset;

import org.jspecify.annotations.NullMarked;
