@NullMarked
package io.firstclaim.stack.fault;

import org.jspecify.annotations.NullMarked;
