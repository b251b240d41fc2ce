@NullMarked
package io.firstclaim.stack.server;

import org.jspecify.annotations.NullMarked;
