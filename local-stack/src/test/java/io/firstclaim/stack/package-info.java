@NullMarked
package io.firstclaim.stack;

import org.jspecify.annotations.NullMarked;
