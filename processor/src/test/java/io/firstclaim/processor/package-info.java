@NullMarked
package io.firstclaim.processor;

import org.jspecify.annotations.NullMarked;
