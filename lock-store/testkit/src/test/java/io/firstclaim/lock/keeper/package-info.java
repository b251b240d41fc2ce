@NullMarked
package io.firstclaim.lock.keeper;

import org.jspecify.annotations.NullMarked;
