@NullMarked
package io.firstclaim.lock.testkit;

import org.jspecify.annotations.NullMarked;
