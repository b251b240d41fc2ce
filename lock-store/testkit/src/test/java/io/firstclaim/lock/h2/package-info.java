@NullMarked
package io.firstclaim.lock.h2;

import org.jspecify.annotations.NullMarked;
