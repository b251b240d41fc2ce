@NullMarked
package io.firstclaim.lock.mutex;

import org.jspecify.annotations.NullMarked;
