@NullMarked
package io.firstclaim.lock.store;

import org.jspecify.annotations.NullMarked;
