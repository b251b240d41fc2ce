@NullMarked
package io.firstclaim.lock.testkit.fault;

import org.jspecify.annotations.NullMarked;
