@NullMarked
package io.firstclaim.lock.state;

import org.jspecify.annotations.NullMarked;
