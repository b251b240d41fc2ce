/** For tests of applications. */
@NullMarked
package io.firstclaim.spring.test;

import org.jspecify.annotations.NullMarked;
