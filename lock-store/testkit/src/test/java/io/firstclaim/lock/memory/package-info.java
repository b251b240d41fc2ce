@NullMarked
package io.firstclaim.lock.memory;

import org.jspecify.annotations.NullMarked;
