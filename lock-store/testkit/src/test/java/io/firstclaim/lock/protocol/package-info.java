@NullMarked
package io.firstclaim.lock.protocol;

import org.jspecify.annotations.NullMarked;
