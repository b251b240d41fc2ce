@NullMarked
package io.firstclaim.lock;

import org.jspecify.annotations.NullMarked;
