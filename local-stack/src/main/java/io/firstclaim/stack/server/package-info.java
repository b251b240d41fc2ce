/** Real servers as child processes that never outlive this JVM. */
@NullMarked
package io.firstclaim.stack.server;

import org.jspecify.annotations.NullMarked;
